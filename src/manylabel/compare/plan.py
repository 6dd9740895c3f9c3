"""What is compared with what: corpora, rows, measures, and what others published."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from manylabel.exceptions import ParameterError
from manylabel.metrics import MEASURES
from manylabel.models import MODELS, make_model

__all__ = ["MAIN_MEASURES", "Claim", "Plan", "Problem", "Row", "parse_row"]

#: What tables show by default.
MAIN_MEASURES = ("p@1", "p@3", "p@5", "ndcg@5", "psp@5", "micro-f1", "macro-f1", "example-f1")


@dataclass(frozen=True)
class Problem:
    """A corpus in two sets: one to train on, one to test on.

    Parameters
    ----------
    name : str
        What tables call it.
    train : str
        A file or folder in any format.
    test : str, optional
        Another; without it ``train`` is split at random, differently for each seed.
    n_train : int or float, optional
        How many documents, or which share, a split learns from.
    min_documents : int
        Leave out labels of fewer documents, and then documents without labels.
    only_labelled : bool
        Leave out documents without labels, in both sets.
    reading : mapping
        Arguments of `manylabel.corpus.read`.
    vectorizer : mapping
        Arguments of `manylabel.text.CountVectorizer`, for texts.
    title : str, optional
        A name for headings.
    folds : int
        Split ``train`` into this many folds instead; each is tested on once.
    """

    name: str
    train: str
    test: str | None = None
    n_train: float = 0.75
    min_documents: int = 0
    only_labelled: bool = False
    reading: Mapping[str, Any] = field(default_factory=dict)
    vectorizer: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    folds: int = 0

    @property
    def is_split(self) -> bool:
        """Whether each seed has documents of its own to test on."""
        return self.test is None

    @property
    def heading(self) -> str:
        """The title, or the name where there is none."""
        return self.title or self.name


@dataclass(frozen=True)
class Row:
    """One model with its settings: a row of the tables.

    Parameters
    ----------
    title : str
    model : str
        A key of `manylabel.models.MODELS`, ``omikuji:parabel``, ``omikuji:bonsai``,
        ``pecos:xr-linear``, or ``package.module:factory`` for an estimator of one's own.
    parameters : mapping
    preset : str, optional
        A paper's settings; ``parameters`` still count.
    tuned_for : tuple of str
        Measures; the model is tuned on the training documents for each by itself, and each is
        reported of the model tuned for it. Others are of the model tuned for the first.
    grid : mapping, optional
        Values to try instead of the usual ones, for a row with ``tuned_for``.
    chooses : {"train", "test"}, optional
        Fit every setting of ``grid`` and take, for each measure of ``tuned_for``, the one that is
        best with a threshold fitted for the measure: on held-out training documents, or on the
        test documents, as papers do that call it an oracle. None tunes on training documents.
    needs : str, optional
        A module without which the row is left out. A variable such as ``MANYLABEL_PECOS`` may name
        the Python of another environment that has it.
    """

    title: str
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    preset: str | None = None
    tuned_for: tuple[str, ...] = ()
    needs: str | None = None
    grid: Mapping[str, Any] | None = None
    chooses: str | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is one of manylabel's models."""
        return self.model in MODELS

    @property
    def depends_on_seed(self) -> bool:
        """Whether another seed may give another answer on the same documents."""
        if not self.is_ours:
            return True
        if "random_state" in self.parameters:
            return False
        try:
            return "random_state" in self.make().get_params(deep=False)
        except Exception:
            # One run is enough to say what is wrong with it.
            return False

    @property
    def is_missing(self) -> bool:
        """Whether a package that the row needs is installed nowhere."""
        if self.needs is None or find_spec(self.needs) is not None:
            return False
        return not os.environ.get(f"MANYLABEL_{self.needs.upper()}")

    def make(self) -> Any:
        """The estimator of one of manylabel's models, not tuned."""
        return make_model(self.model, self.parameters, self.preset)


@dataclass(frozen=True)
class Claim:
    """That a row is better than another by most of some measures, and what a paper says of it."""

    better: str
    worse: str
    metrics: tuple[str, ...]
    #: Problem's name -> the paper's words.
    words: Mapping[str, str]


@dataclass(frozen=True)
class Highlight:
    """Some measures of a row on a problem, to be shown in short beside others.

    A row named ``beside`` stands there as it was run, or as it was published if it was not run;
    the row itself stands there as it was published.
    """

    problem: str
    metrics: tuple[str, ...]
    row: str
    beside: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Everything there is to run and to show.

    Parameters
    ----------
    title : str
    problems, rows : tuple
    metrics : tuple of str
        The measures that tables show.
    seeds : int
        Runs of each row whose answer depends on chance, and random splits of each problem that
        is split.
    measured : tuple of str, optional
        What is computed at all; by default every measure, so that showing others costs nothing.
    top : int, optional
        Maximum labels per document to keep, where no more are measured.
    n_jobs : int
        Threads of a model.
    published : mapping
        (problem's name, row's title) -> measure -> value in a paper.
    source : str
        Where the published values come from.
    notes : tuple of str
        Sentences for the reader.
    own_rows : mapping
        Problem's name -> rows, for problems whose rows have other settings.
    once : tuple of str
        Names of problems that have one seed only.
    rankings : mapping
        Heading -> titles of rows that are ranked against each other; by default all rows.
    z_tests : str, optional
        The title of a row that is compared with the best of the others by a z-test, beside the
        bootstrap.
    claims : tuple of Claim
        What a paper says in words.
    highlights : tuple of Highlight
        What a reader in a hurry should see.
    """

    title: str
    problems: tuple[Problem, ...]
    rows: tuple[Row, ...]
    metrics: tuple[str, ...] = MAIN_MEASURES
    seeds: int = 1
    measured: tuple[str, ...] | None = None
    top: int | None = None
    n_jobs: int = 1
    published: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    source: str = ""
    notes: tuple[str, ...] = ()
    own_rows: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    once: tuple[str, ...] = ()
    rankings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    z_tests: str | None = None
    claims: tuple[Claim, ...] = ()
    highlights: tuple[Highlight, ...] = ()

    def seeds_of(self, problem: Problem) -> range:
        """The seeds that a problem runs with."""
        return range(1 if problem.name in self.once else self.seeds)

    def rows_of(self, problem: Problem) -> tuple[Row, ...]:
        """The rows that run on a problem; those whose package is missing are left out."""
        rows = self.own_rows.get(problem.name, self.rows)
        return tuple(row for row in rows if not row.is_missing)

    def titles_of(self, problem: Problem) -> list[str]:
        """The rows' titles, then those of rows that are only published."""
        titles = [row.title for row in self.rows_of(problem)]
        others = [title for name, title in self.published if name == problem.name]
        return titles + [title for title in others if title not in titles]

    def names_measured(self) -> list[str]:
        """Every measure that is computed, whether tables show it or not."""
        if self.measured is not None:
            usual = list(self.measured)
        else:
            usual = [
                name
                for measure in MEASURES.values()
                for name in (
                    [measure.at(k).name for k in (1, 3, 5)] if measure.is_family else [measure.name]
                )
            ]
        return usual + [name for name in self.metrics if name not in usual]

    def sentences(self) -> list[str]:
        """The notes, and which rows are left out."""
        rows = [*self.rows, *(row for own in self.own_rows.values() for row in own)]
        missing = {row.title: row.needs for row in rows if row.is_missing}
        return [
            *self.notes,
            *(f"{title} is left out: {name} is not installed." for title, name in missing.items()),
        ]


def parse_row(text: str, parameters: Mapping[str, Any], tuned_for: str) -> Row:
    """A row as people type it.

    Parameters
    ----------
    text : str
        ``lcif``, ``lcif:tuned``, ``prior-lda:rubin-yahoo`` or ``package.module:factory``.
    parameters : mapping
        What differs from the defaults.
    tuned_for : str
        The measure that ``:tuned`` means.

    Examples
    --------
    >>> parse_row("prior-lda:rubin-yahoo", {}, "micro-f1").preset
    'rubin-yahoo'
    """
    name, _, how = text.partition(":")
    if name not in MODELS and how:
        if not re.fullmatch(r"[\w.]+:[\w.]+", text):
            raise ParameterError(
                f"{text!r} names no model; write one such as lcif, or package.module:factory."
            )
        return Row(text, text, dict(parameters))
    if how == "tuned":
        row = Row(text, name, dict(parameters), tuned_for=(tuned_for,))
    else:
        row = Row(text, name, dict(parameters), preset=how or None)
    row.make()
    return row

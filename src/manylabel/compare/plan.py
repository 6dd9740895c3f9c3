"""The plan of a comparison: corpora, rows, measures, and published values."""

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

#: Measures that tables show by default.
MAIN_MEASURES = ("p@1", "p@3", "p@5", "ndcg@5", "psp@5", "micro-f1", "macro-f1", "example-f1")


@dataclass(frozen=True)
class Problem:
    """A corpus with a training set and a test set.

    Parameters
    ----------
    name : str
        The name in tables.
    train : str
        A file or folder in any format.
    test : str, optional
        Another one. By default ``train`` is split at random, differently for each seed.
    n_train : int or float, optional
        The number or share of training documents in a split.
    min_documents : int
        Leave out labels with fewer documents, and then documents without labels.
    only_labelled : bool
        Leave out documents without labels, in both sets.
    reading : mapping
        Arguments of `manylabel.corpus.read`.
    vectorizer : mapping
        Arguments of `manylabel.text.CountVectorizer`, for texts.
    title : str, optional
        A title for headings.
    folds : int
        Split ``train`` into this many folds instead; each is the test set once.
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
        """Whether each seed has its own test documents."""
        return self.test is None

    @property
    def heading(self) -> str:
        """The title, or the name if there is none."""
        return self.title or self.name


@dataclass(frozen=True)
class Row:
    """One model with its settings: a row of the tables.

    Parameters
    ----------
    title : str
    model : str
        A key of `manylabel.models.MODELS`, ``omikuji:parabel``, ``omikuji:bonsai``,
        ``pecos:xr-linear``, or ``package.module:factory`` for a user's estimator.
    parameters : mapping
    preset : str, optional
        A paper's settings; ``parameters`` override them.
    tuned_for : tuple of str
        Measures. The model is tuned for each separately, on training documents, and each measure
        is that of the model tuned for it. Other measures are those of the first tuned model.
    grid : mapping, optional
        Values to try instead of the default ones, for a row with ``tuned_for``.
    chooses : str, optional
        Fit every setting of ``grid`` and choose, for each measure of ``tuned_for``, the best one
        with a threshold fitted for the measure: on held-out training documents ("train") or, as
        some papers do (an "oracle"), on the test documents ("test"). By default the tuner chooses.
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
        """Whether the model is one of manylabel's."""
        return self.model in MODELS

    @property
    def depends_on_seed(self) -> bool:
        """Whether another seed may give another result on the same documents."""
        if not self.is_ours:
            return True
        if "random_state" in self.parameters:
            return False
        try:
            return "random_state" in self.make().get_params(deep=False)
        except Exception:
            # One run is enough to report the error.
            return False

    @property
    def is_missing(self) -> bool:
        """Whether a package that the row needs is not installed."""
        if self.needs is None or find_spec(self.needs) is not None:
            return False
        return not os.environ.get(f"MANYLABEL_{self.needs.upper()}")

    def make(self) -> Any:
        """Make the estimator of one of manylabel's models, not tuned."""
        return make_model(self.model, self.parameters, self.preset)


@dataclass(frozen=True)
class Claim:
    """A paper's statement that one row is better than another by most of some measures."""

    better: str
    worse: str
    metrics: tuple[str, ...]
    #: Name of a problem -> the paper's words.
    words: Mapping[str, str]


@dataclass(frozen=True)
class Highlight:
    """Some measures of a row on a problem, for a short table beside other rows.

    For the rows in ``beside``, the table shows our values, or the published ones if a row was not
    run; for the row itself among them, the published values.
    """

    problem: str
    metrics: tuple[str, ...]
    row: str
    beside: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Everything to run and to show in a comparison.

    Parameters
    ----------
    title : str
    problems, rows : tuple
    metrics : tuple of str
        The measures that tables show.
    seeds : int
        Runs of each row that uses random numbers, and random splits of each problem without a
        test set.
    measured : tuple of str, optional
        The measures to compute; by default all, so that showing others costs nothing.
    top : int, optional
        Maximum labels per document to keep, if no measure needs more.
    n_jobs : int
        Threads per model.
    published : mapping
        (name of a problem, title of a row) -> measure -> value in a paper.
    source : str
        The source of the published values.
    notes : tuple of str
        Sentences for the reader.
    own_rows : mapping
        Name of a problem -> rows, for problems whose rows have other settings.
    once : tuple of str
        Names of problems that run with one seed only.
    rankings : mapping
        Heading -> titles of rows that are ranked against each other; by default all rows.
    z_tests : str, optional
        The title of a row to compare with the best of the others by a z-test, in addition to the
        bootstrap.
    claims : tuple of Claim
        A paper's statements in words.
    highlights : tuple of Highlight
        The most important results.
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
        """The rows that run on a problem, without those whose package is missing."""
        rows = self.own_rows.get(problem.name, self.rows)
        return tuple(row for row in rows if not row.is_missing)

    def titles_of(self, problem: Problem) -> list[str]:
        """The titles of the rows, then those of rows that are only published."""
        titles = [row.title for row in self.rows_of(problem)]
        others = [title for name, title in self.published if name == problem.name]
        return titles + [title for title in others if title not in titles]

    def names_measured(self) -> list[str]:
        """Every measure to compute, whether tables show it or not."""
        if self.measured is not None:
            names = list(self.measured)
        else:
            names = [
                name
                for measure in MEASURES.values()
                for name in (
                    [measure.at(k).name for k in (1, 3, 5)] if measure.is_family else [measure.name]
                )
            ]
        return names + [name for name in self.metrics if name not in names]

    def sentences(self) -> list[str]:
        """The notes, and a sentence for each row that is left out."""
        rows = [*self.rows, *(row for own in self.own_rows.values() for row in own)]
        missing = {row.title: row.needs for row in rows if row.is_missing}
        return [
            *self.notes,
            *(f"{title} is left out: {name} is not installed." for title, name in missing.items()),
        ]


def parse_row(text: str, parameters: Mapping[str, Any], tuned_for: str) -> Row:
    """Parse a row as typed on the command line.

    Parameters
    ----------
    text : str
        ``lcif``, ``lcif:tuned``, ``prior-lda:rubin-yahoo`` or ``package.module:factory``.
    parameters : mapping
        Parameters that differ from the defaults.
    tuned_for : str
        The measure to tune for with ``:tuned``.

    Examples
    --------
    >>> parse_row("prior-lda:rubin-yahoo", {}, "micro-f1").preset
    'rubin-yahoo'
    """
    name, _, how = text.partition(":")
    if name not in MODELS and how:
        if not re.fullmatch(r"[\w.]+:[\w.]+", text):
            raise ParameterError(
                f"unknown model {text!r}; write one such as lcif, or package.module:factory."
            )
        return Row(text, text, dict(parameters))
    if how == "tuned":
        row = Row(text, name, dict(parameters), tuned_for=(tuned_for,))
    else:
        row = Row(text, name, dict(parameters), preset=how or None)
    row.make()
    return row

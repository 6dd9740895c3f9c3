"""``manylabel demo``: train, evaluate, tag and explain on the bundled catalogue."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.compiling import compile_missing
from manylabel.cli.options import Debug, Jobs, Json, Quiet
from manylabel.cli.output import make_console, note, print_json
from manylabel.cli.serve import Port, run_server

if TYPE_CHECKING:
    from manylabel.corpus import Corpus
    from manylabel.tagger import Tagger

__all__ = ["MEASURES", "Outcome", "demo", "prepare", "trained_tagger"]

#: Measures, and their names in tables.
MEASURES = {"p@1": "P@1", "p@3": "P@3", "p@5": "P@5", "ndcg@5": "nDCG@5", "micro-f1": "micro F1"}

#: A simpler model to compare with. Others need more kernels, which take several seconds to
#: compile on the first run.
_SIMPLER: dict[str, tuple[str, dict[str, Any]]] = {
    "linear models": ("subset-svm", {"n_neighbors": 20}),
}
#: Books of the test set that the page offers as examples.
_EXAMPLES = ("b611", "b152", "b606")


@dataclass
class Outcome:
    """What the demo shows: corpora, a trained tagger, and the measures of each model by name."""

    train: Corpus
    test: Corpus
    tagger: Tagger
    measures: dict[str, dict[str, float]]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The tables as data."""
        subsets = {"train": self.train, "test": self.test}
        figures = {name: subset.statistics().to_dict() for name, subset in subsets.items()}
        return {"statistics": figures, "measures": self.measures}


def demo(
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the trained model, with a page to try it.")
    ] = False,
    port: Port = 8000,
    as_json: Json = False,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train, evaluate, tag and explain on a bundled catalogue.

    The catalogue describes invented books with their subject headings, the labels. The demo
    compares ways to tag new books, then shows some new books with the suggested headings and the
    reasons for them.

    For example:
      manylabel demo
      manylabel demo --json
      manylabel demo --serve
    """
    compile_missing(quiet=quiet, will_train=True)
    note("Training ...", quiet)
    if serve:
        _serve(jobs, port, quiet)
        return
    outcome = prepare(jobs)
    if as_json:
        print_json(outcome.to_dict())
        return
    from manylabel.cli.demo_show import show

    show(make_console(), outcome)


def _serve(jobs: int, port: int, quiet: bool) -> None:
    """Serve the catalogue on this machine; changes are lost when the server stops."""
    from manylabel.corpus import load_catalogue
    from manylabel.web import Settings

    test = load_catalogue("test")
    books = dict(zip(test.ids, test.texts or [], strict=True))
    settings = Settings(allow_learn=True, examples=tuple(books[name] for name in _EXAMPLES))
    run_server({"catalogue": trained_tagger(jobs)}, settings, "127.0.0.1", port, quiet)


def trained_tagger(jobs: int | None = None) -> Tagger:
    """Train a tagger on the catalogue."""
    from manylabel.corpus import load_catalogue
    from manylabel.tagger import Tagger

    return Tagger(random_state=0, n_jobs=jobs).fit(load_catalogue("train"))


def prepare(jobs: int | None = None) -> Outcome:
    """Read the catalogue, train, and evaluate."""
    from manylabel.corpus import load_catalogue
    from manylabel.tagger import Tagger
    from manylabel.text import CountVectorizer

    start = time.perf_counter()
    vectorizer = CountVectorizer(stop_words="english", stemming="english", n_jobs=jobs)
    train = load_catalogue("train").vectorized(vectorizer)
    test = load_catalogue("test").vectorized(vectorizer, fit=False)
    measures = {"guessing by frequency": _measured_guesses(train, test)}
    for name, (model, parameters) in _SIMPLER.items():
        simpler = Tagger(model, parameters=parameters, n_jobs=jobs).fit(train)
        measures[name] = simpler.evaluate(test, metrics=MEASURES)
    tagger = trained_tagger(jobs)
    measures["the ensemble"] = tagger.evaluate(test, metrics=MEASURES)
    return Outcome(train, test, tagger, measures, time.perf_counter() - start)


def _measured_guesses(train: Corpus, test: Corpus) -> dict[str, float]:
    """Evaluate a baseline that gives every document the most common labels."""
    import numpy as np

    from manylabel.metrics import evaluate
    from manylabel.thresholds import TopK

    scores = np.tile(train.Y.mean(axis=0), (len(test), 1))
    given = TopK().fit(scores, train.Y).apply(scores)
    return evaluate(test.align_to(train.label_names).Y, scores, given, metrics=MEASURES)

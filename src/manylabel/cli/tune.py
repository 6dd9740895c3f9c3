"""``manylabel tune``: find the best settings of a model for a corpus."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.models import check_target, parsed_value, settings_of
from manylabel.cli.options import (
    CorpusPath,
    Data,
    Debug,
    Force,
    Jobs,
    KeepTexts,
    LabelInfo,
    ModelName,
    NewModel,
    Quiet,
    Seed,
    Settings,
)
from manylabel.cli.output import counted, in_percent, make_console, note, wants_data
from manylabel.cli.reading import Reading
from manylabel.cli.training import fit_tagger, note_corpus, write_model
from manylabel.cli.words import Words
from manylabel.progress import Clock

if TYPE_CHECKING:
    from rich.table import Table

    from manylabel.corpus import Corpus
    from manylabel.selection import Trial, Tuner
    from manylabel.tagger import Tagger

__all__ = ["tune"]

_SHOWN = 10


def _complete_metric(incomplete: str) -> list[str]:
    from manylabel.metrics import MEASURES

    names = [name[:-1] + "5" if name.endswith("@k") else name for name in MEASURES]
    return [name for name in names if name.startswith(incomplete)]


def tune(
    corpus: CorpusPath,
    output: NewModel,
    model: ModelName = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="MEASURE",
            autocompletion=_complete_metric,
            help="The measure to optimise, such as micro-f1 or ndcg@5.",
        ),
    ] = "micro-f1",
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="NAME=V,V,...",
            help="Values of a parameter to try, instead of the default grid; repeatable. paper is "
            "the grid of the LCIF paper, for instance-knn, feature-knn and lcif.",
        ),
    ] = None,
    settings: Settings = None,
    cv: Annotated[
        str,
        typer.Option(
            "--cv",
            metavar="HOW",
            help="How to measure settings: a number of folds, the share of documents to measure "
            "on, or loo (leave one out), for models that share neighbours. By default the model "
            "and the corpus decide.",
        ),
    ] = "auto",
    confirm: Annotated[
        float,
        typer.Option(
            "--held-out",
            metavar="SHARE",
            help="The share of held-out documents, on which the best setting must beat the untuned "
            "model.",
        ),
    ] = 0.2,
    words: Words = Words(),
    label_info: LabelInfo = None,
    keep_texts: KeepTexts = True,
    reading: Reading = Reading(),
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Data = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the best settings of a model, and train it with them.

    The best setting is used if it also beats the untuned model on held-out documents; otherwise
    the result is the same as that of train. instance-knn, feature-knn and lcif search neighbours
    once for all settings; other models are trained for each setting. A table shows the best
    settings. The final model is trained on the whole corpus and written to a folder.

    For example:
      manylabel tune train.jsonl -o model
      manylabel tune train.jsonl -o model --model lcif --try k=20,50,100
      manylabel tune train.txt -o model --model svm --try C=0.1,1,10 --cv 5
    """
    check_target(output, force)
    from manylabel.metrics import get_measure
    from manylabel.tagger import DEFAULT_MODEL, Tagger

    get_measure(metric)
    name, fixed = DEFAULT_MODEL if model is None else model, settings_of(settings)
    is_shown = not quiet and sys.stderr.isatty()
    shared: dict[str, Any] = words.of_tagger() | {
        "keep_texts": keep_texts,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": is_shown,
    }
    untuned = Tagger(name, parameters=fixed, **shared)
    untuned.check_parameters()
    tuner = _tuner(name, fixed, _grid(tried, name), metric, seed, jobs)
    tuner.set_params(cv=parsed_value(cv), confirm=confirm, verbose=is_shown)
    clock = Clock()
    training = reading.corpus(corpus, quiet)
    note_corpus(training, clock, quiet)
    features = _counted(training, untuned)
    note(f"Tuning {name} for {metric} ...", quiet)
    tuner.fit(features.X, features.Y)
    note(f"Tried {counted(len(tuner.trials_), 'setting')} in {clock.lap('tune'):.1f} s.", quiet)
    is_data = wants_data(as_json)
    if not is_data:
        make_console().print(trials_table(tuner.best_trials(_SHOWN), metric))
    note(_verdict(tuner), quiet)
    tagger = Tagger(name, parameters=fixed | tuner.best_params_, **shared)
    fit_tagger(tagger, training, label_info, clock, quiet)
    more = {
        "metric": metric,
        "value": tuner.best_score_,
        "parameters": tuner.best_params_,
        "held_out": tuner.confirmation_,
        "tried": len(tuner.trials_),
        "trials": tuner.best_trials(),
    }
    write_model(tagger, output, clock, is_data, quiet, more)


def _tuner(
    model: str,
    fixed: dict[str, Any],
    grid: dict[str, Sequence[Any]],
    metric: str,
    seed: int,
    jobs: int,
) -> Tuner:
    """Make a tuner; invalid settings raise an error before the corpus is read."""
    from manylabel.models import make_model
    from manylabel.selection import Tuner, default_grid

    estimator = make_model(model, fixed)
    own = estimator.get_params(deep=False)
    grid = grid or default_grid(estimator, metric, fixed)
    make_model(model, fixed | {name: values[0] for name, values in grid.items()})
    settings = {"random_state": seed, "n_jobs": jobs}
    estimator.set_params(**{name: value for name, value in settings.items() if name in own})
    return Tuner(estimator, grid=grid, metric=metric, random_state=seed, refit=False)


def _verdict(tuner: Tuner) -> str:
    """Say whether the best setting was better on held-out documents."""
    seen = tuner.confirmation_
    if seen is None:
        return "No setting is better than the untuned model. Using the untuned model."
    kept = tuner.best_params_ != {name: tuner.trials_[0][name] for name in tuner.best_params_}
    tuned, untuned = (_shown(seen[name], tuner.metric) for name in ("tuned", "untuned"))
    return (
        f"{tuner.metric} on {counted(int(seen['documents']), 'held-out document')}: "
        f"{tuned} tuned, {untuned} untuned. "
        f"Using the {'tuned' if kept else 'untuned'} model."
    )


def _shown(value: float, metric: str) -> str:
    """Format the value of a measure, in percent if it is a share."""
    from manylabel.metrics import get_measure

    return in_percent(value) if get_measure(metric).is_share else f"{value:,.2f}"


def _grid(tried: list[str] | None, model: str) -> dict[str, Sequence[Any]]:
    """Parse ``name=v,v,...`` and ``paper`` into a grid: parameter -> values."""
    grid: dict[str, Sequence[Any]] = {}
    for given in tried or []:
        if given.strip() == "paper":
            grid |= _paper_grid(model)
            continue
        name, equals, values = given.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise typer.BadParameter(f"--try {given} must be NAME=VALUE,VALUE, such as k=20,50.")
        grid[name.strip()] = [parsed_value(value.strip()) for value in values.split(",")]
    return grid


def _paper_grid(model: str) -> dict[str, Sequence[Any]]:
    """The grid of the LCIF paper, for the parameters that the model has."""
    from manylabel.models import make_model
    from manylabel.selection import PAPER_GRID

    own = make_model(model).get_params(deep=False)
    grid = {name: values for name, values in PAPER_GRID.items() if name in own}
    if not {"alpha", "beta"} & set(grid):
        raise typer.BadParameter(
            f"--try paper is for instance-knn, feature-knn and lcif, not for {model}."
        )
    return grid


def _counted(corpus: Corpus, tagger: Tagger) -> Corpus:
    """Count the features that the tagger would choose when it is fitted."""
    from manylabel.tagger.features import choose_features, has_words_only
    from manylabel.tagger.languages import make_vectorizer

    texts = corpus.full_texts
    if texts is None:
        return corpus
    vectorizer = make_vectorizer(
        tagger.language, tagger.vectorizer, tagger.n_jobs, int(tagger.verbose)
    )
    if tagger.features == "auto" and tagger._is_ensemble and has_words_only(vectorizer):
        vectorizer = choose_features(
            lambda rows: [texts[row] for row in rows], corpus.Y, vectorizer, tagger.n_jobs
        )
    return corpus.vectorized(vectorizer)


def trials_table(trials: list[Trial], metric: str) -> Table:
    """A table of settings with their values, in the given order."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    names = [name for name in trials[0] if name not in ("value", "seconds")]
    for name in names:
        table.add_column(name, style="cyan")
    table.add_column(metric, justify="right")
    table.add_column("seconds", justify="right", style="dim")
    for trial in trials:
        cells = [str(trial[name]) for name in names]
        table.add_row(*cells, _shown(trial["value"], metric), f"{trial['seconds']:.2f}")
    return table

"""``manylabel tune``: the settings of a model that suit a corpus."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.models import check_target, parsed_value, settings_of, text_options
from manylabel.cli.options import (
    CharNgrams,
    CorpusPath,
    Debug,
    Force,
    Jobs,
    Json,
    KeepTexts,
    LabelInfo,
    Labels,
    Language,
    MaxDf,
    MaxFeatures,
    MinDf,
    ModelName,
    NewModel,
    Ngrams,
    Quiet,
    ReadFormat,
    Seed,
    Separator,
    Settings,
    Stemming,
    StopWords,
    ZeroBased,
)
from manylabel.cli.output import make_console, note
from manylabel.cli.reading import read_corpus
from manylabel.cli.training import fit_tagger, note_corpus, write_model
from manylabel.progress import Clock

if TYPE_CHECKING:
    from rich.table import Table

    from manylabel.cli.trials import Trial
    from manylabel.corpus import Corpus
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
    model: ModelName = "lcif",
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="MEASURE",
            autocompletion=_complete_metric,
            help="The measure to make good, such as micro-f1 or ndcg@5.",
        ),
    ] = "micro-f1",
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="NAME=V,V,...",
            help="Values of a parameter to try, instead of the usual ones; may be given again.",
        ),
    ] = None,
    settings: Settings = None,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            metavar="SHARE",
            help="The part of the corpus to measure on. Models made of neighbours need none: each "
            "document is scored as if it were not there.",
        ),
    ] = 0.2,
    language: Language = "en",
    stop_words: StopWords = None,
    stemming: Stemming = None,
    ngrams: Ngrams = None,
    char_ngrams: CharNgrams = None,
    min_df: MinDf = 1,
    max_df: MaxDf = None,
    max_features: MaxFeatures = None,
    label_info: LabelInfo = None,
    keep_texts: KeepTexts = True,
    format: ReadFormat = None,
    labels: Labels = None,
    separator: Separator = None,
    zero_based: ZeroBased = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find a model's best settings, and write that model.

    instance-knn, feature-knn and lcif search their neighbours once for all settings and tune one
    parameter after the other; of other models every combination is trained. The table shows the
    best settings; the first is trained on all of the corpus.

    For example:
      manylabel tune train.jsonl -o model
      manylabel tune train.jsonl -o model --metric ndcg@5 --try k=20,50,100
      manylabel tune train.txt -o model --model svm --try C=0.1,1,10
    """
    check_target(output, force)
    from manylabel.cli.trials import best_first, run_trials, usual_grid
    from manylabel.metrics import get_measure
    from manylabel.models import make_model
    from manylabel.tagger import Tagger

    name, fixed = str(model), settings_of(settings)
    get_measure(metric)
    make_model(name, fixed)
    usual = {} if tried else usual_grid(name)
    grid = _grid(tried) or {key: values for key, values in usual.items() if key not in fixed}
    # A name that the model does not have is an error before anything is read.
    make_model(name, fixed | {key: values[0] for key, values in grid.items()})
    is_shown = not quiet and sys.stderr.isatty()
    shared: dict[str, Any] = text_options(
        language,
        stop_words=stop_words,
        stemming=stemming,
        ngrams=ngrams,
        char_ngrams=char_ngrams,
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
    )
    shared |= {
        "keep_texts": keep_texts, "random_state": seed, "n_jobs": jobs, "verbose": is_shown
    }  # fmt: skip
    clock = Clock()
    found = read_corpus(
        corpus, format, labels=labels, separator=separator, zero_based=zero_based, quiet=quiet
    )
    note_corpus(found, clock, quiet)
    counted = _counted(found, Tagger(name, parameters=fixed, **shared))
    note(f"Tuning {name} for {metric} ...", quiet)
    trials = run_trials(
        name,
        fixed,
        grid,
        counted,
        metric=metric,
        held_out=held_out,
        seed=seed,
        jobs=jobs,
        is_shown=is_shown,
    )
    ranked = best_first(trials, metric)
    best = {key: ranked[0][key] for key in grid}
    note(f"Tried {len(trials):,} settings in {clock.lap('tune'):.1f} s.", quiet)
    if not as_json:
        make_console().print(trials_table(ranked[:_SHOWN], metric))
    tagger = Tagger(name, parameters=fixed | best, **shared)
    fit_tagger(tagger, found, label_info, clock, quiet)
    more = {
        "metric": metric,
        "value": ranked[0]["value"],
        "parameters": best,
        "tried": len(trials),
        "trials": ranked,
    }
    write_model(tagger, output, clock, as_json, quiet, more)


def _grid(tried: list[str] | None) -> dict[str, Sequence[Any]]:
    """Parameter -> values, from ``name=v,v,...``."""
    grid: dict[str, Sequence[Any]] = {}
    for given in tried or []:
        name, equals, values = given.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise typer.BadParameter(f"--try {given} must be NAME=VALUE,VALUE, such as k=20,50.")
        grid[name.strip()] = [parsed_value(value.strip()) for value in values.split(",")]
    return grid


def _counted(corpus: Corpus, tagger: Tagger) -> Corpus:
    """The corpus with features as the tagger will see them."""
    from manylabel.tagger.inputs import make_vectorizer

    if corpus.texts is None:
        return corpus
    vectorizer = make_vectorizer(
        tagger.language, tagger.vectorizer, tagger.n_jobs, int(tagger.verbose)
    )
    return corpus.vectorized(vectorizer)


def trials_table(trials: list[Trial], metric: str) -> Table:
    """Settings with their values, as they come."""
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
        table.add_row(*cells, f"{trial['value']:.4f}", f"{trial['seconds']:.2f}")
    return table

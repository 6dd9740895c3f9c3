"""``manylabel compare``: models side by side."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli.models import parsed_value
from manylabel.cli.options import (
    Dask,
    Data,
    Debug,
    Quiet,
    Spool,
    State,
)
from manylabel.cli.output import note, print_json, wants_data
from manylabel.cli.reading import Counting, Reading
from manylabel.exceptions import ManylabelError, ParameterError

if TYPE_CHECKING:
    from manylabel.compare import Plan, Problem, Results, Row

__all__ = ["compare"]


def compare(
    ctx: typer.Context,
    train: Annotated[
        str | None,
        typer.Argument(metavar="TRAIN", show_default=False, help="The training corpus."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Argument(
            metavar="TEST",
            show_default=False,
            help="The test corpus; without it, each seed tests on a random quarter of TRAIN.",
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            metavar="NAMES",
            help="Models, separated by commas: lcif, lcif:tuned, prior-lda:rubin-yahoo (a paper's "
            "settings), or package.module:factory for an estimator of your own.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="MODEL.NAME=VALUE",
            help="A parameter of a model; repeatable.",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="A paper's comparison instead of TRAIN and TEST: lcif-table-2, "
            "lcif-table-3, subset-llda-tables-2-4, subset-llda-trade-off, rubin-figures-6-7-10-11, "
            "rubin-appendix-b or xmc.",
        ),
    ] = None,
    corpora: Annotated[
        str | None,
        typer.Option(
            "--corpora",
            metavar="NAMES",
            help="Only these corpora of the preset, separated by commas.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            help="The folder with the corpora of presets; by default MANYLABEL_DATA.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="NAMES",
            help="Measures to show in tables, separated by commas; the files have all measures.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            "--seeds",
            metavar="N",
            min=1,
            help="Number of runs of each model that uses random numbers; by default 1, or as many "
            "as the preset says.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            metavar="K",
            min=2,
            help="Cross-validate with this many folds of TRAIN.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of the report.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="Write tables, plots and a page there. Finished runs in the folder are not "
            "repeated.",
        ),
    ] = None,
    parallel: Annotated[
        int,
        typer.Option(
            "--parallel",
            metavar="N",
            min=1,
            help="Models to run at the same time; more than one distorts the times.",
        ),
    ] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Repeat runs that are already finished.")
    ] = False,
    as_json: Data = None,
    reading: Reading = Reading(),
    counting: Counting = Counting(),
    dask: Dask = None,
    spool: Spool = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare models: measures, time and memory.

    Each model trains and predicts in its own process. A terminal shows tables; a pipe gets one
    JSON object. --out also writes the tables as Markdown, LaTeX, CSV, JSON and one HTML page, with
    plots as SVG and PDF. Every pair of models is tested for significance, and every measure has a
    confidence interval.

    For example:
      manylabel compare train.jsonl test.jsonl --models lcif,svm --out report
      manylabel compare train.txt test.txt --models lcif:tuned,svm --metrics p@1
      manylabel compare all.jsonl --models svm,mine:make --set svm.C=0.5 --folds 5
      manylabel compare --preset subset-llda-tables-2-4
    """
    from manylabel.parallel import effective_jobs

    if preset is not None:
        if train is not None or models is not None or folds is not None:
            raise typer.BadParameter(
                "--preset has its own corpora and models; leave out TRAIN, --models and --folds."
            )
        plan = _preset_plan(preset, data, _names(corpora))
    elif train is None or models is None:
        raise typer.BadParameter("give TRAIN, TEST and --models, or --preset.")
    else:
        if folds is not None and (test is not None or seeds is not None):
            raise typer.BadParameter("--folds splits TRAIN; leave out TEST and --seeds.")
        problem = replace(_problem(train, test, reading, counting), folds=folds or 0)
        plan = _own_plan(problem, models, settings or [], _names(metrics))
    if metrics is not None:
        plan = replace(plan, metrics=tuple(_checked_metrics(_names(metrics) or [])))
    plan = replace(
        plan,
        n_jobs=effective_jobs(counting.jobs),
        seeds=folds or seeds or plan.seeds,
        title=title or plan.title,
    )
    command = shlex.join(["manylabel", *ctx.ensure_object(State).arguments])
    with _scheduler(dask, spool, quiet) as address:
        results = _run(plan, out, parallel, fresh, quiet, address, spool, command)
    _show(results, wants_data(as_json))
    if not results.finished:
        raise ManylabelError("every model failed; the table shows the errors.")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _preset_plan(name: str, data: str | None, corpora: list[str] | None) -> Plan:
    from manylabel.compare.presets import data_folder, make_preset

    return make_preset(name, data_folder(data), corpora)


def _own_plan(
    problem: Problem, models: str, settings: list[str], metrics: list[str] | None
) -> Plan:
    from manylabel.compare import Plan

    tuned_for = metrics[0] if metrics else "micro-f1"
    rows = _rows(_names(models) or [], settings, tuned_for)
    return Plan(f"Models on {problem.heading}", (problem,), tuple(rows))


def _problem(train: str, test: str | None, reading: Reading, counting: Counting) -> Problem:
    from manylabel.compare import Problem
    from manylabel.corpus.files import bare_stem

    for path in (train, test):
        if path == "-":
            raise typer.BadParameter("compare reads files, not standard input.")
    name = bare_stem(Path(train))
    if name in ("train", "all"):
        name = Path(train).resolve().parent.name or name
    given = {key: value for key, value in reading.options.items() if value is not None}
    if "format" in given:
        given["format"] = str(given["format"])
    return Problem(name, train, test, reading=given, vectorizer=counting.words)


def _rows(models: list[str], settings: list[str], tuned_for: str) -> list[Row]:
    from manylabel.compare.plan import parse_row

    parameters: dict[str, dict[str, Any]] = {name: {} for name in models}
    for setting in settings:
        target, equals, value = setting.partition("=")
        name, dot, parameter = target.rpartition(".")
        if not (equals and dot) or name not in parameters:
            raise ParameterError(
                f"--set {setting} must be MODEL.NAME=VALUE, where MODEL is one of "
                f"{', '.join(models)}."
            )
        parameters[name][parameter] = parsed_value(value)
    return [parse_row(name, given, tuned_for) for name, given in parameters.items()]


def _checked_metrics(names: list[str]) -> list[str]:
    from manylabel.metrics import get_measure

    if not names:
        raise ParameterError("--metrics is empty; name at least one measure.")
    return [get_measure(name).name for name in names]


@contextmanager
def _scheduler(dask: str | None, spool: str | None, quiet: bool) -> Iterator[str | None]:
    """The address of the cluster that the models run on; None without a cluster."""
    from manylabel.cli.clusters import cluster_at

    with cluster_at(dask, spool, "-", quiet) as cluster:
        yield None if cluster is None else cluster.address


def _run(
    plan: Plan,
    out: Path | None,
    parallel: int,
    fresh: bool,
    quiet: bool,
    cluster: str | None,
    spool: str | None,
    command: str,
) -> Results:
    from manylabel.cli.compare_progress import watching
    from manylabel.compare import run

    with watching(quiet) as watcher:
        how: dict[str, Any] = {
            "parallel": parallel,
            "watcher": watcher,
            "cluster": cluster,
            "spool": spool,
        }
        if out is not None:
            results = run(plan, out, fresh=fresh, **how)
        else:
            with tempfile.TemporaryDirectory() as folder:
                results = run(plan, Path(folder), **how)
    now = datetime.now(UTC)
    results = replace(results, command=command, date=f"{now:%Y-%m-%d %H:%M} UTC")
    if out is not None:
        from manylabel.compare.report import write_report

        for path in write_report(results, out):
            note(f"Wrote {path}", quiet)
    return results


def _show(results: Results, as_json: bool) -> None:
    if as_json:
        from manylabel.compare.cells import plain
        from manylabel.compare.data_files import to_json

        print_json(plain(to_json(results)))
    else:
        from manylabel.cli.compare_tables import show

        show(results)

"""Commands on a cluster write what they write without one."""

from __future__ import annotations

import json
import re

import pytest

from manylabel.cli.app import run
from manylabel.corpus import load_catalogue, write
from manylabel.distributed import connecting

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    for part in ("train", "test"):
        write(load_catalogue(part), str(folder / f"{part}.jsonl"))
    return folder


def answered(*words):
    return run([str(word) for word in words])


@pytest.mark.slow
def test_training_and_prediction_are_the_same(books, processes, monkeypatch, capfd):
    train, test = books / "train.jsonl", books / "test.jsonl"
    model = ("--model", "subset-svm", "--set", "n_neighbors=10", "--jobs", 1)
    assert answered("train", train, "-o", books / "here", *model) == 0
    assert "Read 489 documents" in capfd.readouterr().err
    assert answered("predict", books / "here", test, "-o", books / "here.jsonl") == 0
    dask = ("--dask", processes.address)
    assert answered("train", train, "-o", books / "there", *model, *dask) == 0
    told = capfd.readouterr().err
    assert "tasks at a time on tcp://" in told
    assert "Read 489 documents" not in told, "the workers have"
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", processes.address)
    assert answered("predict", books / "there", test, "-o", books / "there.jsonl") == 0
    told = capfd.readouterr().err
    assert "Peak memory of a worker:" in told
    assert (books / "there.jsonl").read_bytes() == (books / "here.jsonl").read_bytes()
    manifest = json.loads((books / "there.jsonl.manifest.json").read_text())
    assert manifest["failed"] == 0
    assert sum(batch["documents"] for batch in manifest["batches"]) == len(load_catalogue("test"))
    assert not list(books.glob("*.batches")), "what was put aside has gone"


def test_an_address_without_a_scheduler_is_one_sentence(books, capfd, monkeypatch):
    monkeypatch.setattr(connecting, "_TIMEOUT", "200ms")
    code = answered(
        "train", books / "train.jsonl", "-o", books / "x", "--dask", "tcp://127.0.0.1:9"
    )
    assert code == 1
    assert "no scheduler answers at tcp://127.0.0.1:9" in capfd.readouterr().err
    assert not (books / "x").exists()


@pytest.mark.slow
def test_a_local_cluster_is_started_for_a_command(books, capfd):
    for name, dask in (("one", ()), ("two", ("--dask", "local:2"))):
        assert answered("train", books / "train.jsonl", "-o", books / name, *dask) == 0
        seen = re.search("Watch it at http://127.0.0.1:[0-9]+/status", capfd.readouterr().err)
        assert bool(seen) == bool(dask)
        output = books / f"{name}.jsonl"
        assert answered("predict", books / name, books / "test.jsonl", "-o", output, *dask) == 0
    assert (books / "one.jsonl").read_bytes() == (books / "two.jsonl").read_bytes()


@pytest.mark.slow
def test_models_are_compared_on_a_cluster(books, processes, capfd):
    found = []
    for dask in ((), ("--dask", processes.address)):
        models = ("--models", "lcif,subset-svm", "--json", "--metrics", "p@1,p@5")
        assert answered("compare", books / "train.jsonl", books / "test.jsonl", *models, *dask) == 0
        found.append(json.loads(capfd.readouterr().out))
    assert measured(found[0]) == measured(found[1])


def measured(report):
    """What a report says about each model, except times and memory."""
    models = [
        models for corpus in report["corpora"].values() for models in corpus["models"].items()
    ]
    assert [values["error"] for _, values in models] == [None, None]
    return {name: values["measures"] for name, values in models}

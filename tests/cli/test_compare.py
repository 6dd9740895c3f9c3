"""`manylabel compare`."""

from __future__ import annotations

import json
import re

import pytest

from manylabel.cli.app import run
from manylabel.cli.models import parsed_value


@pytest.fixture
def parts(tmp_path):
    """Training and test documents of two kinds."""
    rows = ["0 0:2 3:1", "0 0:1", "1 1:2 3:1", "1 1:1", "0,1 0:1 1:1"]
    for name, n in (("train", 4), ("test", 2)):
        lines = [rows[i % len(rows)] for i in range(n * 5)]
        (tmp_path / f"{name}.txt").write_text("\n".join([f"{len(lines)} 4 2", *lines]) + "\n")
    return tmp_path / "train.txt", tmp_path / "test.txt"


def test_tables_go_to_standard_output_and_the_rest_elsewhere(call, parts, tmp_path):
    out = tmp_path / "report"
    called = call(
        "compare", *parts, "--models", "instance-knn,svm", "--set", "instance-knn.k=3",
        "--metrics", "p@1,micro-f1", "--out", out, "--jobs", "1", "--title", "Which one?",
        "--table",
    )  # fmt: skip
    assert called.code == 0
    assert called.out.startswith("Which one?\n")
    assert re.search(r"Model +P@1, % +Micro F1, % +Train, s", called.out)
    assert re.search(r"instance-knn +\* 100\.0 +\* 100\.0 +\d", called.out)
    assert re.search(r"95 % interval +P@1, %", called.out)
    written = (out / "results.md").read_text()
    lines = written.splitlines()
    assert lines[0] == "# Which one?"
    assert f"Command: manylabel compare {parts[0]} {parts[1]} --models instance-knn,svm" in written
    assert re.search(r"^Date: \d{4}-\d\d-\d\d \d\d:\d\d UTC", written, re.MULTILINE)
    assert (out / "plots" / f"{tmp_path.name}-trade-off.pdf").read_bytes().startswith(b"%PDF")
    assert any(line.startswith("| instance-knn | **1.000** | **1.000** |") for line in lines)
    assert f"Wrote {out / 'results.md'}" in called.err
    assert (out / "results.csv").read_text().startswith("corpus,model,seed,measure,value\n")
    found = json.loads((out / "results.json").read_text())
    [corpus] = found["corpora"].values()
    assert corpus["models"]["instance-knn"]["measures"]["p@1"]["mean"] == 1.0

    again = call(
        "compare", *parts, "--models", "instance-knn,svm", "--set", "instance-knn.k=3",
        "--metrics", "p@3", "--out", out, "--json", "--jobs", "1",
    )  # fmt: skip
    assert "2 of 2 runs are already finished." in again.err
    assert again.json["metrics"] == ["p@3"]


def test_an_estimator_that_is_not_there_is_refused_before_anything_runs(call, parts):
    called = call(
        "compare", *parts, "--models", "svm,no_such_module:make", "--quiet", "--jobs", "1"
    )
    assert called.code == 1
    assert called.err == ("manylabel: 'no_such_module:make' cannot be imported: no such module.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([], 2, "give TRAIN, TEST and --models, or --preset."),
        (["a.txt", "--preset", "xmc"], 2, "--preset has its own corpora and models"),
        (
            ["a", "b", "--models", "svm", "--folds", "3"],
            2,
            "--folds splits TRAIN; leave out TEST and",
        ),
        (["-", "--models", "svm"], 2, "compare reads files, not standard input."),
        (["a.txt", "--models", "smv"], 1, "unknown model 'smv'; did you mean svm?"),
        (["a.txt", "--models", "svm", "--set", "C=1"], 1, "--set C=1 must be MODEL.NAME=VALUE"),
        (["a.txt", "--models", "svm", "--metrics", "p@x"], 1, "unknown measure 'p@x'"),
        (["a.txt", "--models", "svm"], 1, "a.txt: no such file or folder."),
        (["--preset", "x", "--data", "."], 1, "unknown preset 'x'; there are lcif-table-2"),
    ],
)
def test_wrong_calls_are_answered_in_one_line(call, arguments, code, sentence, tmp_path):
    called = call("compare", *arguments)
    assert called.code == code
    assert sentence in called.err
    assert called.err.count("\n") == 1
    assert called.out == ""


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("0.5", 0.5), ("null", None), ("true", True), ("top-3", "top-3")]
)
def test_values_of_parameters_are_numbers_where_they_look_like_it(text, value):
    assert parsed_value(text) == value


def test_the_help_names_every_preset(capsys):
    from manylabel.compare import PRESETS

    assert run(["compare", "--help"]) == 0
    shown = "".join(capsys.readouterr().out.split())
    for name in PRESETS:
        assert name in shown

"""`manylabel predict`: documents in, labels out, in order and in constant memory."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from manylabel.corpus import load_catalogue, read, write
from manylabel.tagger import Tagger

COMMAND = [sys.executable, "-m", "manylabel.cli"]


def records(called):
    assert called.code == 0, called.err
    return [json.loads(line) for line in called.out.splitlines()]


def test_each_document_gets_its_best_labels_in_the_order_of_the_file(call, catalogue):
    found = records(call("predict", catalogue / "model", catalogue / "test.jsonl", "--top", 3))
    test = load_catalogue("test")
    assert [record["id"] for record in found] == test.ids
    expected = Tagger.load(catalogue / "model").suggest(test.texts, top=3)
    assert [record["labels"] for record in found] == [each.to_list() for each in expected]


def test_ten_labels_unless_a_threshold_decides(call, catalogue):
    text = ("--text", "A ship in the ice of the north")
    assert len(records(call("predict", catalogue / "model", *text))[0]["labels"]) == 10
    (by_score,) = records(call("predict", catalogue / "model", *text, "--threshold", "0.2"))
    assert min(label["score"] for label in by_score["labels"]) >= 0.2
    (auto,) = records(call("predict", catalogue / "model", *text, "--threshold", "auto"))
    given = Tagger.load(catalogue / "model").suggest(text[1], top=None, threshold="auto")
    assert auto["labels"] == given.to_list()


def test_documents_without_a_label_that_is_sure_enough_are_left_to_a_person(call, tmp_path):
    Tagger(random_state=0).fit(load_catalogue("train")).save(tmp_path / "model")
    write(load_catalogue("test"), tmp_path / "new.jsonl")
    called = call("predict", tmp_path / "model", tmp_path / "new.jsonl", "--precision", 0.6)
    found = records(called)
    silent = [record for record in found if record["abstained"]]
    assert 0 < len(silent) < len(found)
    assert all(record["labels"] == [] for record in silent)
    assert f"No label for {len(silent)} of {len(found)} documents" in called.err


def test_labels_can_be_asked_for_and_left_out(call, catalogue):
    asked = ("predict", catalogue / "model", "--text", "A ship in the ice")
    (best, second, *_) = (label["label"] for label in records(call(*asked))[0]["labels"])
    assert records(call(*asked, "--exclude", best))[0]["labels"][0]["label"] == second
    only = records(call(*asked, "--include", second))[0]["labels"]
    assert [label["label"] for label in only] == [second]
    assert "130 labels known" in call(*asked, "--include", "nothing").err


def test_standard_input_is_read_by_default(call, catalogue, feed):
    feed((catalogue / "test.jsonl").read_bytes())
    whole = call("predict", catalogue / "model").out
    assert whole == call("predict", catalogue / "model", catalogue / "test.jsonl").out


def test_lines_of_plain_text_are_documents(call, catalogue, feed):
    feed(b"A ship in the ice\n\nCats, and more cats\n")
    found = records(call("predict", catalogue / "model", "-", "--top", 1))
    assert [record["id"] for record in found] == ["0", "1"]
    feed(b"A\tship\tin the ice\n")
    assert len(records(call("predict", catalogue / "model", "-", "--format", "lines"))) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "id\ttext\tlabels\nx\ta ship\tcats\ny\tcats\t\n"),
        ("a.tsv", "a ship\tcats\ncats\t\n"),
        ("a.csv", 'id,text\nx,"a\nship"\ny,cats\n'),
        ("a.jsonl", '{"id": "x", "text": "a ship"}\n\n{"id": "y", "text": "cats"}\n'),
        ("a.jsonl.gz", '{"id": "x", "text": "a ship"}\n{"id": "y", "text": "cats"}'),
    ],
)
def test_every_format_of_texts_is_read_piece_by_piece(call, catalogue, tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith("gz") else content.encode())
    found = records(call("predict", catalogue / "model", path, "--top", 1))
    corpus = read(path)
    assert [record["id"] for record in found] == corpus.ids
    expected = Tagger.load(catalogue / "model").suggest(corpus.texts, top=1)
    assert [record["labels"] for record in found] == [each.to_list() for each in expected]


def test_a_folder_of_texts_is_read(call, catalogue, tmp_path):
    (tmp_path / "a.txt").write_text("a ship in the ice")
    (tmp_path / "b.txt").write_text("cats")
    found = records(call("predict", catalogue / "model", tmp_path, "--top", 1))
    assert [record["id"] for record in found] == ["a", "b"]


BAD = {
    "a.jsonl": ('{"text": "ship"}\n{"text": 3}\noops\n{"text": "cats"}\n', [2, 3], ["0", "3"]),
    "a.tsv": ("text\tlabels\nship\t\nship\tx\ty\ncats\t\n", [3], ["0", "2"]),
    "a.csv": ('id,text\nx,"a\nship"\nz\ny,cats\n', [4], ["x", "y"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_lines_are_reported_with_their_number_and_skipped(call, catalogue, tmp_path, name):
    content, lines, ids = BAD[name]
    path = tmp_path / name
    path.write_text(content)
    called = call("predict", catalogue / "model", path, "--on-error", "skip")
    assert [record["id"] for record in records(called)] == ids
    *told, summary = called.err.splitlines()
    assert len(told) == len(lines)
    for line, message in zip(lines, told, strict=True):
        assert message.startswith(f"manylabel: {path}, line {line}: expected ")
        assert message.endswith("Skipped.")
    wrong = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
    assert summary == f"Skipped {wrong} that could not be read."


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_the_end_by_default_but_those_before_are_answered(
    call, catalogue, tmp_path, name
):
    content, lines, ids = BAD[name]
    path = tmp_path / name
    path.write_text(content)
    called = call("predict", catalogue / "model", path)
    assert called.code == 1
    assert called.err.startswith(f"manylabel: {path}, line {lines[0]}: expected ")
    assert called.err.count("\n") == 1
    assert [json.loads(line)["id"] for line in called.out.splitlines()] == ids[:1]


def test_bytes_that_are_no_text_are_a_bad_line(call, catalogue, feed):
    feed(b'{"text": "ship"}\n{"text": "\xff"}\n{"text": "cats"}\n')
    called = call("predict", catalogue / "model", "-", "--on-error", "skip", "--format", "jsonl")
    assert [record["id"] for record in records(called)] == ["0", "2"]
    assert "manylabel: -, line 2: expected UTF-8 text, found byte 0xff" in called.err


def test_many_bad_lines_do_not_fill_the_screen(call, catalogue, feed):
    feed(b'{"text": "ship"}\n' + b"oops\n" * 1000)
    called = call("predict", catalogue / "model", "-", "--on-error", "skip")
    assert len(called.err.splitlines()) == 22
    assert "Skipped 1,000 lines that could not be read." in called.err


def test_a_broken_file_leaves_no_output(call, catalogue, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "ship"}\noops\n')
    assert call("predict", catalogue / "model", path, "-o", tmp_path / "out.jsonl").code == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_an_empty_text_is_no_error(call, catalogue, feed):
    feed(b'{"text": ""}\n')
    assert records(call("predict", catalogue / "model"))[0]["id"] == "0"


def test_tables_have_one_line_per_label(call, catalogue, tmp_path):
    out = tmp_path / "labels.tsv.gz"
    called = call("predict", catalogue / "model", catalogue / "test.jsonl", "--top", 2, "-o", out)
    assert (called.code, called.out) == (0, "")
    assert f"Wrote labels of 158 documents to {out}." in called.err
    head, *lines = gzip.decompress(out.read_bytes()).decode().splitlines()
    assert head == "id\tlabel\tscore"
    assert len(lines) == 316
    best = Tagger.load(catalogue / "model").suggest(load_catalogue("test")[:1], top=1)[0]
    assert lines[0] == f"{best.id}\t{best[0].label}\t{best[0].score!r}"


def test_scores_are_written_as_in_the_extreme_classification_repository(call, catalogue, tmp_path):
    out = tmp_path / "scores.txt"
    assert call("predict", catalogue / "model", catalogue / "test.jsonl", "-o", out).code == 0
    head, *lines = out.read_text().splitlines()
    assert head == "158 130"
    assert len(lines) == 158
    names = (tmp_path / "scores.labels.txt").read_text().splitlines()
    found = {names[int(column)]: float(score) for column, score in _pairs(lines[0])}
    best = Tagger.load(catalogue / "model").suggest(load_catalogue("test")[:1], top=10)[0]
    assert found == {label: score for label, score, _ in best}
    assert [int(column) for column, _ in _pairs(lines[0])] == sorted(
        int(column) for column, _ in _pairs(lines[0])
    )


def _pairs(line):
    return [pair.split(":") for pair in line.split()]


def test_features_are_answered_with_numbers(call, rows, tmp_path):
    assert call("train", rows, "-o", tmp_path / "m", "--model", "lcif", "-q").code == 0
    called = call("predict", tmp_path / "m", rows, "--to", "xc")
    assert called.out.splitlines()[0] == "3 2"
    assert not (tmp_path / "scores.labels.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.jsonl"], 1, "nowhere.jsonl: the file cannot be opened"),
        (["x", "--text", "y"], 2, "give either FILE or --text, not both."),
        (["--text", " "], 2, "--text is empty; give a text."),
        (
            ["--text", "x", "--threshold", "high"],
            1,
            "--threshold must be a number, 'auto' or",
        ),
        (["--text", "x", "--precision", "2"], 1, "must be above 0 and below 1; got 2"),
        (
            ["--text", "x", "--precision", "0.9", "--threshold", "auto"],
            2,
            "give --threshold or --precision, not both.",
        ),
        (["--text", "x", "--top", "0"], 2, "invalid value for '--top'"),
    ],
)
def test_a_mistake_is_one_line(call, catalogue, arguments, code, message):
    called = call("predict", catalogue / "model", *arguments)
    assert called.code == code
    assert message in called.err
    assert (called.out, called.err.count("\n")) == ("", 1)


def test_what_is_no_model_is_refused(call, catalogue, tmp_path):
    for place in (tmp_path, tmp_path / "nowhere", catalogue / "test.jsonl"):
        called = call("predict", place, "--text", "x")
        assert called.code == 1
        assert called.err.startswith(f"manylabel: {place}")
        assert called.err.count("\n") == 1


def test_a_reader_that_has_seen_enough_is_no_error(catalogue):
    with subprocess.Popen(
        [*COMMAND, "predict", catalogue / "model", catalogue / "train.jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 0


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes and signals")
def test_control_c_leaves_no_output(catalogue, tmp_path):
    pipe = tmp_path / "endless.jsonl"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [*COMMAND, "predict", catalogue / "model", pipe, "-o", tmp_path / "out.jsonl"],
        stderr=subprocess.PIPE,
        text=True,
    )
    with open(pipe, "wb", buffering=0) as file:
        file.write(b'{"text": "a ship"}\n')
        for _ in range(12):  # a person presses again if nothing happens
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
                break
        assert process.returncode == 130
    assert process.stderr.read().strip() == ""
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(catalogue, tmp_path):
    def peak(n_documents):
        path = tmp_path / f"{n_documents}.jsonl"
        line = json.dumps({"text": "A ship in the ice of the north. " * 10}) + "\n"
        with open(path, "w") as file:
            file.writelines(line for _ in range(n_documents))
        code = (
            "import resource, sys; from manylabel.cli.app import run; "
            f"run(['predict', {str(catalogue / 'model')!r}, {str(path)!r}, '-o', '/dev/null', "
            "'--top', '1', '--quiet']); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        return int(found.stdout)

    assert peak(40_000) < peak(4_000) * 1.1

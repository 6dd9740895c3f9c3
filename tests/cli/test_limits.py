"""Limits of files, raised by options."""

import gzip
import json

from manylabel.cli.app import run


def test_a_compressed_bomb_is_read_if_the_user_says_so(tmp_path, capfd):
    line = json.dumps({"text": "a cat " * 60_000, "labels": ["cats"]}) + "\n"
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(line.encode() * 110))
    assert run(["stats", str(path)]) == 1
    refused = capfd.readouterr().err
    assert "raise the limit (--max-expansion, or MANYLABEL_MAX_EXPANSION)" in refused
    assert run(["stats", str(path), "--max-expansion", "2000", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["documents"] == 110


def test_a_long_line_is_refused_if_the_user_says_so(tmp_path, capfd):
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"text": "a cat " * 500, "labels": ["cats"]}) + "\n")
    assert run(["stats", str(path), "--max-line", "1000"]) == 1
    assert "a line has more than 1,000 bytes; if that is correct, raise the limit (--max-line" in (
        capfd.readouterr().err
    )
    assert run(["stats", str(path), "--max-line", "0"]) == 2

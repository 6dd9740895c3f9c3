"""Look for words that the house style avoids: ``python tools/house_style.py [PATH ...]``.

Without paths, those in ``[tool.house-style]`` of ``pyproject.toml`` are read. Text between
``<!-- house style: off -->`` and ``<!-- house style: on -->`` is skipped. CONTRIBUTING.md explains
the style.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_COUNTED = (
    "ms|milliseconds?|seconds?|s|kB|MB|GB|bytes?|steps?|times|numbers?|labels?|words?|tokens?|"
    "documents?|texts?|queries|lines?|rows?|pairs?|candidates?|features?|weights?|columns?|"
    "classifiers?|regressions?|machines?|objects?|cuts?|thresholds?|functions?|SVMs?|models?"
)
_UNIT = (
    "documents?|texts?|titles?|query|label|word|token|row|line|candidate|posting|thread|process|"
    "chain|part|pair|task|node|leaf|tree|feature|non-zero|second|request|answer|gigabyte|class|law"
)
#: What to look for -> what to write instead.
TICS: dict[str, str] = {
    r"whoever": "name the person: the user, a reader, anyone who",
    r"nobody": "no one, or say it in the active voice",
    r"somebody": "the user, or another process",
    r"anew": "again, or from scratch",
    r"so (?:many|much) (?:labels?|words?|documents?|threads?)": "maximum ... per ...",
    r"learnt": "learned",
    r"(?:is|are) (?:not as (?:it|they) should be|none of the \d+)": "invalid, or unknown",
    r"which is none of": "unknown",
    r"mended": "fixed",
    r"processor (?:time|seconds?)": "CPU time, CPU seconds",
    r"parts? of (?:a )?words?": "character n-grams",
    r"(?:usually |is |are |by default )found out": "detected",
    r"what learns": "model to train",
    r"as they were:": "not updated until the next training:",
    r"goes? (?:at the end|when the command has done)": "is removed on success",
    r"go by that name": "unknown Host header",
    r"(?:one|any other|mistypes one|is no) sign": "character",
    r"change that is none": "internal-only change",
    r"rooms?(?! for\b)": "package, or layer",
    r"by half": "partly",
    r"at the moment at which": "when",
    r"of itself": "by itself, or on its own",
    r"speaks? (?:for|against)": "in favour of, against, or points to",
    r"likeliest": "most likely, or most probable",
    r"not begun": "not started",
    rf"(?:{_COUNTED}) an? (?:{_UNIT})(?!')": "per: 3 ms per document",
    rf"(?:one|two|a) (?:\w+ )?(?:{_COUNTED}) a (?:{_UNIT})": "per: one model per label",
}
# Where words start, first letters are compared before anything else: three times as fast.
_PATTERN = re.compile(rf"\b(?:{'|'.join(rf'({tic})' for tic in TICS)})\b", re.IGNORECASE)
_SPACES = str.maketrans("\n_", "  ")
_OFF = re.compile(r"<!-- house style: off -->.*?<!-- house style: on -->", re.DOTALL)
#: Files with prose.
_ENDINGS = {".md", ".py", ".html", ".js"}


def files(paths: list[Path]) -> Iterator[Path]:
    """The files with prose among the paths, folders searched."""
    for path in paths:
        candidates = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in candidates if file.suffix in _ENDINGS and file.is_file())


def problems(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, what is there, and what to write instead."""
    text = _OFF.sub(lambda match: "\n" * match[0].count("\n"), text)
    # A sentence continues on the next line, and names are words, too: `pairs_per_document`.
    for match in _PATTERN.finditer(text.translate(_SPACES)):
        assert match.lastindex is not None
        line = text.count("\n", 0, match.start()) + 1
        yield line, match[0], list(TICS.values())[match.lastindex - 1]


def main(arguments: list[str]) -> int:
    """Print every problem; 1 if there is one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    settings = settings["tool"]["house-style"]
    skipped = {ROOT / path for path in settings["skip"]}
    paths = [Path(path) for path in arguments] or [ROOT / path for path in settings["paths"]]
    failed = 0
    for file in files(paths):
        if file in skipped:
            continue
        for line, words, better in problems(file.read_text(encoding="utf-8")):
            name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
            print(f"{name}:{line}: {words!r}: write {better}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

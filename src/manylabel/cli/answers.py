"""Write suggestions as JSON Lines, TSV, CSV, a table, or in the Extreme Classification format."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from manylabel.corpus.files import atomic_write, bare_stem, bare_suffix

if TYPE_CHECKING:
    from manylabel.tagger import Suggestions, Tagger

__all__ = ["format_of_answers", "writing_answers"]

_ENDINGS = {".tsv": "tsv", ".csv": "csv", ".txt": "xc"}

Write = Callable[[Iterable["Suggestions"]], None]


def format_of_answers(path: str, is_terminal: bool = False) -> str:
    """The default format: by the file's extension, or a table in a terminal.

    Examples
    --------
    >>> format_of_answers("labels.tsv.gz"), format_of_answers("-"), format_of_answers("-", True)
    ('tsv', 'jsonl', 'table')
    """
    from manylabel.corpus.detection import check_writable

    check_writable(path)
    return _ENDINGS.get(bare_suffix(path), "table" if is_terminal else "jsonl")


@contextmanager
def writing_answers(
    tagger: Tagger, path: str, format: str, tells_abstained: bool = False
) -> Iterator[Write]:
    """Provide a function that writes suggestions; the file appears when it is complete.

    Parameters
    ----------
    tagger : Tagger
        The tagger that makes the suggestions.
    path : str
        A file, or ``-`` for standard output.
    format : {"jsonl", "tsv", "csv", "xc", "table"}
    tells_abstained : bool
        Whether JSON says of each document whether it got no label.
    """
    with atomic_write(path) as file:
        if format == "xc":
            with _waiting_scores(tagger, file) as write:
                yield write
        elif format == "tsv":
            file.write(b"id\tlabel\tscore\n")
            yield _line_writer(file, _table_rows)
        elif format == "csv":
            file.write(b"id,label,score\n")
            yield _line_writer(file, _csv_rows)
        elif format == "table":
            yield _line_writer(file, _shown_table(tagger))
        else:
            yield _line_writer(file, partial(_json_line, tells_abstained=tells_abstained))
        if path != "-":
            tagger.check_files()
    if format == "xc" and path != "-":
        _write_label_names(tagger.labels, path)


def _line_writer(file: IO[bytes], lines: Callable[[Suggestions], str]) -> Write:
    """Make a function that writes the lines of documents and flushes them."""

    def write(batch: Iterable[Suggestions]) -> None:
        for suggestions in batch:
            file.write(lines(suggestions).encode())
        file.flush()

    return write


def _json_line(suggestions: Suggestions, tells_abstained: bool = False) -> str:
    record: dict[str, Any] = {"id": suggestions.id, "labels": suggestions.to_list()}
    if tells_abstained:
        record["abstained"] = not record["labels"]
    return json.dumps(record, ensure_ascii=False) + "\n"


def _table_rows(suggestions: Suggestions) -> str:
    """One line per label; tabs in a label become spaces."""
    name = _in_cell(str(suggestions.id))
    return "".join(f"{name}\t{_in_cell(label)}\t{score!r}\n" for label, score, _ in suggestions)


def _csv_rows(suggestions: Suggestions) -> str:
    """One line per label, quoted where needed."""
    lines = StringIO()
    rows = ((suggestions.id, label, repr(score)) for label, score, _ in suggestions)
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()


def _shown_table(tagger: Tagger) -> Callable[[Suggestions], str]:
    """Make a function that shows a document's labels as a table, probabilities in percent."""
    from rich.console import Console

    from manylabel.cli.output import make_console
    from manylabel.cli.tables import answers_table

    is_percent = tagger.gives_probabilities
    screen = make_console()

    def show(suggestions: Suggestions) -> str:
        page = StringIO()
        console = Console(
            file=page,
            width=screen.width,
            force_terminal=screen.is_terminal,
            highlight=False,
            color_system=screen.color_system,  # type: ignore[arg-type]
        )
        console.print(answers_table(suggestions, is_percent))
        return page.getvalue()

    return show


def _in_cell(text: str) -> str:
    return re.sub(r"[\t\r\n]", " ", text)


@contextmanager
def _waiting_scores(tagger: Tagger, file: IO[bytes]) -> Iterator[Write]:
    """Write a header ``documents labels``, then ``label:score`` pairs, one document per line.

    The header is known last, so the lines wait in a temporary file.
    """
    positions = _Positions(tagger)
    n_documents = 0
    with tempfile.TemporaryFile() as waiting:

        def write(batch: Iterable[Suggestions]) -> None:
            nonlocal n_documents
            for suggestions in batch:
                pairs = sorted((positions[label], score) for label, score, _ in suggestions)
                line = " ".join(f"{column}:{score!r}" for column, score in pairs)
                waiting.write(f"{line}\n".encode())
                n_documents += 1

        yield write
        file.write(f"{n_documents} {len(tagger.labels)}\n".encode())
        waiting.seek(0)
        shutil.copyfileobj(waiting, file)


class _Positions(dict[str, int]):
    """The number of each label, including labels added after writing began."""

    def __init__(self, tagger: Tagger) -> None:
        super().__init__()
        self._tagger = tagger

    def __missing__(self, label: str) -> int:
        self.update({name: position for position, name in enumerate(self._tagger.labels)})
        return self[label]


def _write_label_names(labels: list[str], path: str) -> None:
    """Write the labels of the numbers, unless they are the numbers themselves."""
    if labels == list(map(str, range(len(labels)))):
        return
    with atomic_write(Path(path).with_name(f"{bare_stem(path)}.labels.txt")) as file:
        file.writelines(f"{_in_cell(label)}\n".encode() for label in labels)

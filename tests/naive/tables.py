"""Slow, obvious readers of texts: JSON Lines, TSV and CSV, one character at a time."""

from __future__ import annotations

import json
import re

from naive.corpora import RefusedError


def decoded(data: bytes) -> str:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError("UTF-8") from None
    # The line ends of old Macs.
    return text if "\n" in text else text.rstrip("\r").replace("\r", "\n")


def split_lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


def label_list(cell: str) -> set[str]:
    if cell.strip().startswith("<"):
        tokens = cell.split()
        if not all(re.fullmatch("<[^<>]+>", token) for token in tokens):
            # Identifiers may follow one another without a blank.
            tokens = re.findall("<[^<>]+>", "".join(tokens))
            if "".join(tokens) != "".join(cell.split()) or re.search(r"<[^>]*\s[^>]*>", cell):
                raise RefusedError(cell)
        return {token[1:-1] for token in tokens}
    return {name.strip() for name in cell.split(";") if name.strip()}


def column_names(cells: list[str]) -> list[str]:
    """Names of columns as readers compare them: in lower case, `_`, `.` and `-` as blanks."""
    names = [re.sub(r"[\s_.-]+", " ", cell).strip().casefold() for cell in cells]
    return [{"texts": "text", "label": "labels", "subject uris": "labels"}.get(n, n) for n in names]


def documents(rows: list[list[str]]) -> list[tuple[str, set[str]]]:
    """Text and labels of each row of cells, with or without a header."""
    if not rows:
        raise RefusedError("empty")
    names = column_names(rows[0])
    columns = {"text": 0, "labels": 1}
    width = 2
    if "text" in names:
        rows, width = rows[1:], len(names)
        columns = {}
        if width > 2:
            rows = [row for row in rows if any(cell.strip() for cell in row)]
        for position, name in enumerate(names):
            columns.setdefault(name, position)
    result = []
    for row in rows:
        if len(row) > width and not any(cell.strip() for cell in row[width:]):
            row = row[:width]
        if len(row) != width:
            raise RefusedError(row)
        labels = label_list(row[columns["labels"]]) if "labels" in columns else set()
        result.append((row[columns["text"]], labels))
    if not result:
        raise RefusedError("no documents")
    return result


def read_tsv(data: bytes) -> list[tuple[str, set[str]]]:
    rows = [line.split("\t") for line in split_lines(decoded(data)) if line]
    if not rows or "text" not in column_names(rows[0]):
        rows = [
            [row[0], " ".join(row[1:])] if len(row) > 2 and row[1].strip().startswith("<") else row
            for row in rows
        ]
    return documents(rows)


def read_csv(data: bytes) -> list[tuple[str, set[str]]]:
    """RFC 4180 by hand: a quote opens a cell only at its start, and doubles inside."""
    text = decoded(data)
    rows: list[list[str]] = []
    row: list[str] = []
    cell, state, touched = "", "start", False
    at = 0

    def end_row() -> None:
        nonlocal row, cell, touched
        if touched:
            rows.append([*row, cell])
        row, cell, touched = [], "", False

    while at < len(text):
        sign = text[at]
        at += 1
        if state == "quoted":
            if sign == '"' and text[at : at + 1] == '"':
                cell += '"'
                at += 1
            elif sign == '"':
                state = "closed"
            else:
                cell += sign
        elif sign == ",":
            row.append(cell)
            cell, state, touched = "", "start", True
        elif sign == "\n":
            end_row()
            state = "start"
        elif sign == "\r":
            if text[at : at + 1] not in ("\n", ""):
                raise RefusedError("a lone carriage return")
            end_row()
            state = "start"
            at += 1
        elif state == "closed":
            raise RefusedError("text after a quote")
        elif sign == '"' and state == "start":
            state, touched = "quoted", True
        else:
            cell += sign
            state, touched = "plain", True
    if state == "quoted":
        raise RefusedError("an open quote")
    end_row()
    return documents(rows)


def read_jsonl(data: bytes) -> list[tuple[str, set[str]]]:
    result = []
    for line in split_lines(decoded(data)):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise RefusedError(line) from None
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise RefusedError(line)
        labels = record.get("labels") or []
        if isinstance(labels, str):
            labels = sorted(label_list(labels))
        if record.get("labels") not in (None, []) and not isinstance(labels, list):
            raise RefusedError(line)
        if any(isinstance(label, str) and not label.strip() for label in labels):
            raise RefusedError(line)
        strings = [record["text"]]
        for value in [*labels, record.get("id"), record.get("title")]:
            if isinstance(value, bool) or not isinstance(value, str | int | type(None)):
                raise RefusedError(line)
            strings.append(str(value))
        if None in labels or any(re.search("[\ud800-\udfff]", string) for string in strings):
            raise RefusedError(line)
        result.append((record["text"], {str(label) for label in labels}))
    if not result:
        raise RefusedError("no documents")
    return result

"""A slow, obvious reader of MEKA's ARFF with numeric and {0,1} attributes, one row at a time."""

from __future__ import annotations

import math
import re

from naive.corpora import NUMBER, RefusedError, lines_of


def read_meka(data: bytes) -> tuple[list[str], list[list[float]]]:
    """The names and the dense rows; words are quoted only where the header is concerned."""
    lines = [line.strip() for line in lines_of(data)]
    lines = [line for line in lines if line and not line.startswith("%")]
    names: list[str] = []
    nominal: list[bool] = []
    relation = ""
    while True:
        if not lines:
            raise RefusedError("no data")
        line = lines.pop(0)
        word, _, rest = re.sub(r"\s", " ", line, count=1).partition(" ")
        if word.lower() == "@data":
            break
        if word.lower() == "@relation":
            relation = rest.strip()
        elif word.lower() == "@attribute":
            match = re.fullmatch(
                r"\s*([A-Za-z0-9]+)\s+(numeric|real|integer|\{\s*0\s*,\s*1\s*\})\s*", rest, re.I
            )
            if not match:
                raise RefusedError(line)
            names.append(match[1])
            nominal.append(match[2].startswith("{"))
        else:
            raise RefusedError(line)
    if len(set(names)) != len(names) or not re.fullmatch(r"'t: -C 2'", relation) or len(names) < 2:
        raise RefusedError("header")

    def value(position: int, cell: str) -> float:
        if nominal[position]:
            if cell not in ("0", "1"):
                raise RefusedError(cell)
        elif not NUMBER.fullmatch(cell) or math.isinf(float(cell)):
            raise RefusedError(cell)
        if position < 2 and float(cell) not in (0, 1):
            raise RefusedError(cell)
        return float(cell)

    rows = []
    for line in lines:
        row = [0.0] * len(names)
        if line.startswith("{"):
            if not line.endswith("}") or len(line) < 2:
                raise RefusedError(line)
            seen = set()
            for pair in line[1:-1].split(",") if line[1:-1].strip() else []:
                words = pair.split()
                if (
                    len(words) != 2
                    or words[0] not in map(str, range(len(names)))
                    or words[0] in seen
                ):
                    raise RefusedError(pair)
                seen.add(words[0])
                row[int(words[0])] = value(int(words[0]), words[1])
        else:
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) != len(names):
                raise RefusedError(line)
            row = [value(position, cell) for position, cell in enumerate(cells)]
        rows.append(row)
    return names, rows

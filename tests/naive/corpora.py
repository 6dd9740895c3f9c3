"""Slow, obvious readers of corpora: one line, one token at a time."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
WHOLE = re.compile(r"[0-9]+")


class RefusedError(Exception):
    """The file is not what its format promises."""


def whole(token: str, below: int) -> int:
    if not WHOLE.fullmatch(token) or int(token) >= below:
        raise RefusedError(token)
    return int(token)


def row(
    line: str, n_labels: int, n_features: int, base: int = 0
) -> tuple[set[int], dict[int, float]]:
    """The labels and the non-zero features of ``label,label feature:value ...``."""
    tokens = re.split("[ \t]+", line)
    labels: set[int] = set()
    if tokens[0] and ":" not in tokens[0]:
        labels = {whole(token, n_labels) for token in tokens[0].split(",")}
        tokens = tokens[1:]
    features: dict[int, float] = {}
    for token in tokens:
        if not token:
            continue
        if token.count(":") != 1:
            raise RefusedError(token)
        left, right = token.split(":")
        feature = whole(left, n_features)
        if (
            feature < base
            or feature in features
            or not NUMBER.fullmatch(right)
            or math.isinf(float(right))
        ):
            raise RefusedError(token)
        features[feature] = float(right)
    return labels, {feature: value for feature, value in features.items() if value != 0}


def lines_of(data: bytes, encoding: str = "utf-8") -> list[str]:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode(encoding)
    except UnicodeDecodeError:
        raise RefusedError("UTF-8") from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_xc(data: bytes) -> tuple[int, int, list[tuple[set[int], dict[int, float]]]]:
    """The numbers of features and labels, and the rows, of Extreme Classification text."""
    lines = lines_of(data)
    header = re.fullmatch(r"\s*([0-9]+)\s+([0-9]+)\s+([0-9]+)\s*", lines[0] if lines else "", re.A)
    if not header:
        raise RefusedError("header")
    n_rows, n_features, n_labels = map(int, header.groups())
    if max(n_features, n_labels) >= 2**31:
        raise RefusedError("too wide")
    body = lines[1:]
    while len(body) > n_rows and not body[-1].strip(" \t"):
        body.pop()
    if len(body) != n_rows:
        raise RefusedError("rows")
    return n_features, n_labels, [row(line, n_labels, n_features) for line in body]


def read_svmlight(data: bytes, base: int = 0) -> list[tuple[set[int], dict[int, float]]]:
    """The rows of multi-label svmlight, columns as the file counts them."""
    # Comments may hold anything; other text that is not ASCII is refused below.
    contents = [line.split("#", 1)[0] for line in lines_of(data, "latin-1")]
    rows = [row(line, 2**31 - 1, 2**31 - 1, base) for line in contents if line.strip(" \t")]
    if not rows:
        raise RefusedError("no rows")
    return rows

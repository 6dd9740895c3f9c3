"""Parquet files; labels may be lists, or strings with separators."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from manylabel.corpus.document_files import require
from manylabel.corpus.files import Source

__all__ = ["rows"]

_BATCH = 1_000


def rows(source: Source, tell: Callable[[str], None]) -> Iterator[tuple[int, Any]]:
    """The names of the columns as the first row, then the rows."""
    parquet = require("pyarrow.parquet", "pyarrow", "Reading .parquet files")
    path = Path(source.name)
    is_plain = source.name != "-" and path.suffix.lower() == ".parquet" and path.is_file()
    try:
        with parquet.ParquetFile(path if is_plain else io.BytesIO(source.stream.read())) as file:
            names = file.schema_arrow.names
            yield 0, list(names)
            number = 0
            for batch in file.iter_batches(_BATCH):
                columns = [_plain(batch.column(position)) for position in range(len(names))]
                for cells in zip(*columns, strict=True):
                    number += 1
                    yield number, list(cells)
    except (OSError, ValueError) as error:
        raise source.error(f"the file cannot be read as .parquet ({error}).") from None


def _plain(column: Any) -> list[Any]:
    return [int(value) if isinstance(value, bool) else value for value in column.to_pylist()]

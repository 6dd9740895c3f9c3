"""The corpora of the presets: where they are, and how to read them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from manylabel.compare.plan import Problem
from manylabel.exceptions import InputError

__all__ = ["data_folder", "problem", "published"]

#: How to count words in each corpus; chosen on training data.
_VECTORIZERS: dict[str, dict[str, Any]] = {
    "eurlex57k": {"stop_words": "english", "min_df": 4},
    "yso-finna-en": {"min_df": 2},
}
_TITLES = {
    "bibtex": "Bibtex",
    "corel5k": "Corel5k",
    "delicious": "Delicious",
    "eurlex57k": "EURLEX57K",
    "imdb-f": "IMDB-F",
    "medical": "Medical",
    "yahoo-arts": "Yahoo Arts",
    "yahoo-health": "Yahoo Health",
    "yso-finna-en": "YSO-Finna, English titles",
}


def data_folder(given: str | None = None) -> Path:
    """Find the folder with the corpora of the presets.

    Parameters
    ----------
    given : str, optional
        By default the environment variable ``MANYLABEL_DATA``, or ``shared/data`` beside the
        working folder or the repository.
    """
    named = given or os.environ.get("MANYLABEL_DATA")
    beside = (Path.cwd(), Path(__file__).resolve().parents[4])
    folders = [Path(named)] if named else [folder.parent / "shared" / "data" for folder in beside]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise InputError(
        f"there is no folder {folders[0]} with corpora; give one with --data or MANYLABEL_DATA."
    )


def problem(data: Path, name: str, **settings: Any) -> Problem:
    """Make the problem of a corpus with an official split, or of one file to split at random."""
    files_of = {}
    for subset in ("train", "test", "all"):
        files = sorted((data / name).glob(f"{subset}.*"))
        files_of[subset] = str(files[0] if files else data / name / subset)
    whole = Path(files_of["all"]).exists()
    return Problem(
        name,
        files_of["all" if whole else "train"],
        None if whole else files_of["test"],
        title=_TITLES[name],
        vectorizer=_VECTORIZERS.get(name, {}),
        **settings,
    )


def published(
    measures: Sequence[str], values: Mapping[str, Mapping[str, Sequence[float | None]]]
) -> dict[tuple[str, str], dict[str, float]]:
    """Turn corpus -> row -> values into (corpus, row) -> measure -> value, without None."""
    return {
        (corpus, row): {
            measure: value
            for measure, value in zip(measures, figures, strict=True)
            if value is not None
        }
        for corpus, rows in values.items()
        for row, figures in rows.items()
    }

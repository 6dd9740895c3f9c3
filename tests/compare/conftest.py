from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from manylabel.compare import Problem
from manylabel.corpus import Corpus, write


@pytest.fixture(scope="session")
def problem(tmp_path_factory) -> Problem:
    """Sixty documents whose words mostly determine their labels."""
    folder: Path = tmp_path_factory.mktemp("corpus")
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 6)) < [0.6, 0.4, 0.3, 0.2, 0.15, 0.1]).astype(int)
    X = np.hstack([2 * Y, rng.integers(0, 2, (60, 10))]) * (rng.random((60, 16)) < 0.9)
    whole = Corpus(X, Y, label_names=["<b>0</b>", "1", "2", "3", "4", "5"])
    for name, part in (("train", whole[:40]), ("test", whole[40:])):
        write(part, folder / f"{name}.txt")
    return Problem("tiny", str(folder / "train.txt"), str(folder / "test.txt"))

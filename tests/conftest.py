"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# Numba compiles on a kernel's first call, so the first example of a test may be slow.
settings.register_profile(
    "random", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)
# `make test` draws the same examples each time; `make test-all` draws new ones, and more.
settings.register_profile(
    "fixed", settings.get_profile("random"), derandomize=True, max_examples=20
)
settings.load_profile("fixed")


#: Checks of scikit-learn that repeat another one with other types or read-only memory.
VARIANTS = ("check_estimator_sparse_matrix", "readonly_memmap=True")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave variants of scikit-learn's checks, and those expected to fail, to `make test-all`."""
    for item in items:
        if "-check_" in item.name and (
            any(variant in item.name for variant in VARIANTS) or item.get_closest_marker("xfail")
        ):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora, which only some machines have."""
    folder = Path(os.environ.get("MANYLABEL_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "README.md").exists():
        pytest.skip("needs the real corpora (../shared/data or MANYLABEL_DATA)")
    return folder

"""Clusters: one in this process, which is quick, and one of real processes on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from dask_processes import Processes
from scipy import sparse

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client() -> Iterator[distributed.Client]:
    """A client of two workers that are threads of this process."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            memory_limit=0,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler with two workers, each a process."""
    with Processes(tmp_path_factory.mktemp("cluster")) as started:
        started.start_workers(2)
        yield started


@pytest.fixture
def problem() -> tuple[sparse.csr_array, sparse.csr_array]:
    """Documents of three kinds, with labels that follow from the kind; some rows are the same."""
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 3, 400)
    words = rng.poisson(0.15, (400, 60)) + rng.poisson(1.5, (400, 60)) * (
        np.arange(60) % 3 == kinds[:, None]
    )
    words[100:120] = words[:20]
    labels = np.zeros((400, 12), np.int8)
    labels[np.arange(400), kinds] = 1
    labels[np.arange(400), 3 + (words.argmax(axis=1) % 9)] = 1
    labels[:, 11] = 0
    return sparse.csr_array(words.astype(float)), sparse.csr_array(labels)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"

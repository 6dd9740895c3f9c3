"""The simulation of a cluster: when tasks end on workers that may share cores."""

from __future__ import annotations

import heapq
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.simulation import simulate


def naive(tasks, n_workers, dispatch, take):
    """Every worker has a core of its own: it takes the next task when it is free."""
    free = [0.0] * n_workers
    handed_out = taken = 0.0
    for seconds in tasks:
        handed_out += dispatch
        done = max(heapq.heappop(free), handed_out) + seconds
        heapq.heappush(free, done)
        taken = max(taken, done) + take
    return taken


@pytest.mark.parametrize(("n_tasks", "n_workers"), [(1, 3), (50, 1), (50, 4), (300, 64)])
def test_workers_with_their_own_cores_take_one_task_after_the_other(n_tasks, n_workers):
    tasks = np.random.default_rng(1).exponential(1.0, n_tasks)
    expected = naive(tasks.tolist(), n_workers, 0.001, 0.01)
    assert simulate(tasks, n_workers, 0.001, 0.01).seconds == pytest.approx(expected)
    shared = simulate(tasks, n_workers, 0.001, 0.01, cores=n_workers)
    assert shared.seconds == pytest.approx(expected)


def test_workers_that_share_cores_are_slower():
    tasks = np.ones(8)
    assert simulate(tasks, 4, 0.0, 0.0).seconds == pytest.approx(2.0)
    assert simulate(tasks, 4, 0.0, 0.0, cores=2) == simulate(tasks, 2, 0.0, 0.0)
    # The second task alone has a whole core for its last second.
    uneven = simulate(np.array([1.0, 2.0]), 2, 0.0, 0.0, cores=1)
    assert uneven.seconds == pytest.approx(3.0)
    assert uneven.busy == pytest.approx(1.0)

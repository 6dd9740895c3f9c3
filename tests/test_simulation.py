"""The simulation of a cluster: when tasks end on workers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.simulation import simulate


def naive(tasks, n_workers, dispatch, take):
    """Step through time: whatever can happen next, happens."""
    waiting, running, ends = list(enumerate(tasks)), [], {}
    now = 0.0
    while waiting or running:
        ready = (waiting[0][0] + 1) * dispatch if waiting else float("inf")
        if waiting and len(running) < n_workers and ready <= now:
            number, seconds = waiting.pop(0)
            running.append((now + seconds, number))
            continue
        moments = [end for end, _ in running]
        if waiting and len(running) < n_workers:
            moments.append(ready)
        now = min(moments)
        for end, number in [one for one in running if one[0] <= now]:
            running.remove((end, number))
            ends[number] = end
    taken = 0.0
    for number in range(len(tasks)):
        taken = max(taken, ends[number]) + take
    return taken


@pytest.mark.parametrize(("n_tasks", "n_workers"), [(1, 3), (50, 1), (50, 4), (300, 64)])
def test_workers_take_one_task_after_the_other(n_tasks, n_workers):
    tasks = np.random.default_rng(1).exponential(1.0, n_tasks)
    expected = naive(tasks.tolist(), n_workers, 0.001, 0.01)
    assert simulate(tasks, n_workers, 0.001, 0.01).seconds == pytest.approx(expected)


def test_the_share_of_time_in_which_workers_compute():
    assert simulate(np.ones(8), 4, 0.0, 0.0).busy == pytest.approx(1.0)
    assert simulate(np.ones(5), 4, 0.0, 0.0).busy == pytest.approx(5 / 8)
    one_after_the_other = simulate(np.ones(4), 4, 1.0, 0.0)
    assert one_after_the_other.seconds == pytest.approx(5.0)

"""How long many tasks take on N workers, given measured times of single tasks."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Schedule:
    """The outcome of a simulated run.

    Parameters
    ----------
    seconds : float
        From the first task handed out to the last result taken.
    busy : float
        The share of that time in which workers computed.
    """

    seconds: float
    busy: float


def simulate(tasks: NDArray[np.float64], n_workers: int, dispatch: float, take: float) -> Schedule:
    """Run tasks in order on workers that take the next one when they are free.

    Parameters
    ----------
    tasks : array
        Seconds of each.
    n_workers : int
    dispatch : float
        Seconds of the scheduler for each task; it does one after the other.
    take : float
        Seconds of the client for each result, which it takes in order.
    """
    free = [0.0] * n_workers
    handed_out = taken = 0.0
    for seconds in tasks.tolist():
        handed_out += dispatch
        end = max(heapq.heappop(free), handed_out) + seconds
        heapq.heappush(free, end)
        taken = max(taken, end) + take
    return Schedule(taken, float(tasks.sum()) / (taken * n_workers))


def drawn(
    measured: NDArray[np.float64], n: int, scale: float, seed: int = 0
) -> NDArray[np.float64]:
    """Task times drawn from the measured ones, each ``scale`` times as long."""
    return scale * np.random.default_rng(seed).choice(measured, n)


def wait(lengths: NDArray[np.float64], start: int, stop: int) -> int:
    """A task of a known length that needs no core."""
    time.sleep(float(lengths[start:stop].sum()))
    return start

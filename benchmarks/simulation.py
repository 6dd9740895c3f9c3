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


def simulate(
    tasks: NDArray[np.float64],
    n_workers: int,
    dispatch: float,
    take: float,
    cores: float = float("inf"),
) -> Schedule:
    """Run tasks in order on workers that take the next one when they are free.

    Parameters
    ----------
    tasks : array
        Seconds of each, on a core of its own.
    n_workers : int
    dispatch : float
        Seconds of the scheduler for each task; it does one after the other.
    take : float
        Seconds of the client for each result, which it takes in order.
    cores : float
        Cores that all workers share equally; by default each has its own.
    """
    done = _ends(tasks, n_workers, dispatch, cores)
    taken = 0.0
    for end in done.tolist():
        taken = max(taken, end) + take
    return Schedule(taken, float(tasks.sum()) / (taken * min(n_workers, cores)))


def _ends(
    tasks: NDArray[np.float64], n_workers: int, dispatch: float, cores: float
) -> NDArray[np.float64]:
    """When each task ends."""
    ends = np.empty(tasks.size)
    # `work` is what each running task has had of a core since the beginning.
    now = work = 0.0
    running: list[tuple[float, int]] = []
    waiting = 0
    while running or waiting < tasks.size:
        ready = (waiting + 1) * dispatch
        is_free = waiting < tasks.size and len(running) < n_workers
        if is_free and ready <= now:
            heapq.heappush(running, (work + tasks[waiting], waiting))
            waiting += 1
            continue
        speed = min(1.0, cores / max(len(running), 1))
        end = now + (running[0][0] - work) / speed if running else float("inf")
        if is_free and ready < end:
            work, now = work + (ready - now) * speed, ready
            continue
        work, task = heapq.heappop(running)
        ends[task] = now = end
    return ends


def drawn(
    measured: NDArray[np.float64], n: int, scale: float, seed: int = 0
) -> NDArray[np.float64]:
    """Task times drawn from the measured ones, each ``scale`` times as long."""
    return scale * np.random.default_rng(seed).choice(measured, n)


def wait(lengths: NDArray[np.float64], start: int, stop: int) -> int:
    """A task of a known length that needs no core."""
    time.sleep(float(lengths[start:stop].sum()))
    return start

"""How long to sample, and how to report progress."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.estimators import ConvergenceWarning
from manylabel.exceptions import ParameterError
from manylabel.validation import check_whole

__all__ = [
    "CONVERGED",
    "INFERENCES",
    "Progress",
    "Schedule",
    "check_inference",
    "has_converged",
    "sweep_progress",
    "warn_if_rising",
]

INFERENCES = ("cgs", "cgs_p", "cvb0")
#: CVB0 of a document stops when a sweep moves no more than this share of it.
CONVERGED = 1e-3
#: CVB0 of a corpus stops when a sweep changes the log-likelihood per token by no more than this.
_CONVERGED_PER_TOKEN = 1e-4


@dataclass(frozen=True)
class Schedule:
    """Independent chains, each with samples every ``lag`` sweeps after its burn-in.

    The first sample is taken after ``burn_in`` sweeps. CVB0 is deterministic: it runs once, at most
    as many sweeps as a chain has, and stops when it has settled.

    Parameters
    ----------
    chains, burn_in, samples, lag : int

    Examples
    --------
    >>> Schedule(chains=60, burn_in=50, samples=15, lag=5).sweeps
    120
    """

    chains: int
    burn_in: int
    samples: int
    lag: int

    @property
    def sweeps(self) -> int:
        """Sweeps of one chain."""
        return self.burn_in + (self.samples - 1) * self.lag

    def is_sample(self, sweep: int) -> bool:
        """Whether a sample is taken after this sweep, counted from 1."""
        return sweep >= self.burn_in and (sweep - self.burn_in) % self.lag == 0

    def check(self, prefix: str = "") -> Schedule:
        """Check the parameters and return the schedule."""
        for name in ("chains", "burn_in", "samples", "lag"):
            check_whole(prefix + name, getattr(self, name), 1)
        return self


def check_inference(inference: str) -> None:
    """Refuse an unknown inference method."""
    if inference not in INFERENCES:
        raise ParameterError(f"`inference` must be 'cgs', 'cgs_p' or 'cvb0'; got {inference!r}.")


class Progress:
    """Show sweeps done, tokens per second and log-likelihood per token on stderr."""

    def __init__(self, bar: Any, n_sweeps: int, n_tokens: float) -> None:
        self._bar, self._n_sweeps, self._n_tokens = bar, n_sweeps, n_tokens
        self._start, self._done, self._lock = time.perf_counter(), 0, threading.Lock()
        self._task = bar.add_task("", total=n_sweeps) if bar is not None else None

    def swept(self, log_likelihood: float) -> None:
        """Count one more sweep of some chain."""
        if self._bar is None:
            return
        with self._lock:
            self._done += 1
            speed = self._done * self._n_tokens / (time.perf_counter() - self._start)
            self._bar.update(
                self._task,
                completed=self._done,
                description=f"{speed / 1e6:.3g} M tokens/s, "
                f"log-likelihood {log_likelihood / max(self._n_tokens, 1):.4f} per token",
            )


@contextmanager
def sweep_progress(
    what: str, shown: bool | int, n_sweeps: int, n_tokens: float
) -> Iterator[Progress]:
    """Show sweeps as they are done; silent unless ``shown``."""
    if not shown:
        yield Progress(None, n_sweeps, n_tokens)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        yield Progress(bar, n_sweeps, n_tokens)


def has_converged(history: list[float], n_tokens: float) -> bool:
    """Whether the last sweep of CVB0 changed almost nothing."""
    return len(history) > 1 and abs(history[-1] - history[-2]) <= _CONVERGED_PER_TOKEN * n_tokens


def warn_if_rising(history: list[float], what: str, tolerance: float = 5e-3) -> None:
    """Warn if the log-likelihood per token still rose, beyond chance, in the last sweeps."""
    recent = len(history) // 5
    if recent < 2:
        return
    last, before = np.array(history[-recent:]), np.array(history[-2 * recent : -recent])
    rise = last.mean() - before.mean()
    chance = 3 * np.sqrt((last.var() + before.var()) / recent)
    if rise > max(chance, tolerance * abs(last.mean())):
        warnings.warn(
            f"{what} has not converged: the log-likelihood per token rose by {rise:.3g} over the "
            f"last {recent} of {len(history)} sweeps; raise the burn-in.",
            ConvergenceWarning,
            stacklevel=2,
        )

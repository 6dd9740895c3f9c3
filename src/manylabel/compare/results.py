"""The results of a comparison: means over seeds, the best rows, significance and ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manylabel.compare.cells import Cell, Finished
from manylabel.compare.plan import Plan, Problem
from manylabel.compare.significance import Resampled, resample
from manylabel.metrics import get_measure

__all__ = ["LEVEL", "Line", "Results", "Value"]

#: Differences with a higher p-value count as chance.
LEVEL = 0.05


@dataclass
class Value:
    """A measure of a row on a problem."""

    mean: float
    #: Standard deviation over seeds; 0 with one.
    deviation: float = 0.0
    is_best: bool = False
    #: The p-value of the difference to the best; None for the best, or if no test applies.
    p_value: float | None = None
    #: The 95 % confidence interval; None if no test applies.
    interval: tuple[float, float] | None = None

    @property
    def is_level(self) -> bool:
        """Whether the value does not differ significantly from the best."""
        return not self.is_best and self.p_value is not None and self.p_value >= LEVEL


@dataclass
class Line:
    """The results of a row on a problem."""

    title: str
    values: dict[str, Value] = field(default_factory=dict)
    published: dict[str, float] = field(default_factory=dict)
    #: Phase -> mean seconds.
    seconds: dict[str, float] = field(default_factory=dict)
    #: The peak memory of all runs, in bytes.
    memory: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    n_runs: int = 0
    error: str | None = None


@dataclass
class Results:
    """The finished runs of a plan, and their measures."""

    plan: Plan
    cells: list[Cell]
    finished: dict[str, Finished]
    reasons: dict[str, str]
    corpora: dict[str, dict[str, Any]]
    #: The command and the date, so that readers can repeat it.
    command: str = ""
    date: str = ""

    @property
    def origin(self) -> list[str]:
        """Command, date and versions, as lines of a footer."""
        machine = next(iter(self.finished.values())).record["machine"] if self.finished else {}
        lines = [
            f"Command: {self.command}" if self.command else "",
            f"Date: {self.date}" if self.date else "",
            ", ".join(f"{name} {version}" for name, version in machine.items()),
        ]
        return [line for line in lines if line]

    @cached_property
    def lines(self) -> dict[str, list[Line]]:
        """Name of a problem -> rows, with the best of each measure marked."""
        return {problem.name: self._lines(problem) for problem in self.plan.problems}

    def _lines(self, problem: Problem) -> list[Line]:
        lines = [self._line(problem, title) for title in self.plan.titles_of(problem)]
        for name in self.plan.names_measured():
            self._mark(problem, [line for line in lines if name in line.values], name)
        return lines

    def _line(self, problem: Problem, title: str) -> Line:
        line = Line(title, published=dict(self.plan.published.get((problem.name, title), {})))
        runs = self.runs(problem, title)
        failed = [
            self.reasons[cell.key]
            for cell in self._cells(problem, title)
            if cell.key in self.reasons
        ]
        line.error = failed[0] if failed else None
        line.n_runs = len(runs)
        if not runs:
            return line
        for name in runs[0].measures:
            values = np.array([run.measures[name] for run in runs])
            line.values[name] = Value(float(values.mean()), float(values.std()))
        for phase in runs[0].record["seconds"]:
            line.seconds[phase] = float(np.mean([run.record["seconds"][phase] for run in runs]))
        peaks = [run.record["memory"]["peak"] for run in runs]
        line.memory = None if None in peaks else max(peaks)
        line.settings = runs[0].record["settings"]
        return line

    def _cells(self, problem: Problem, title: str) -> list[Cell]:
        return [c for c in self.cells if c.problem.name == problem.name and c.row.title == title]

    def runs(self, problem: Problem, title: str) -> list[Finished]:
        """The finished cells of a row, seed by seed."""
        cells = self._cells(problem, title)
        return [self.finished[cell.key] for cell in cells if cell.key in self.finished]

    def units(self, problem: Problem, title: str, name: str) -> NDArray[np.float64] | None:
        """Numerators and denominators of a measure, averaged over seeds.

        If each seed has its own test documents, they are concatenated instead.
        """
        runs = self.runs(problem, title)
        units = [run.units[name] for run in runs if name in run.units]
        if not units or len(units) < len(runs):
            return None
        return np.concatenate(units, axis=1) if problem.is_split else np.mean(units, axis=0)

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], dict[tuple[str, str], float]]:
        """Name of a problem and measure -> p-values of pairs."""
        return {}

    def _mark(self, problem: Problem, lines: list[Line], name: str) -> None:
        """Mark the best of a measure and, if tables show it, test the others against it."""
        sign = 1 if get_measure(name).greater_is_better else -1
        known = [line for line in lines if not math.isnan(line.values[name].mean)]
        if len(known) < 2:
            return
        best = max(known, key=lambda line: sign * line.values[name].mean)
        for line in known:
            line.values[name].is_best = line.values[name].mean == best.values[name].mean
        if name not in self.plan.metrics:
            return
        for drawn in self._resampled(problem, [line.title for line in known], name):
            p_values = drawn.against(best.title) if best.title in drawn.names else {}
            self._pairs[problem.name, name] = drawn.pairs() | self._pairs.get(
                (problem.name, name), {}
            )
            for line in known:
                if line.title in drawn.names:
                    line.values[name].interval = drawn.interval(line.title)
                    line.values[name].p_value = p_values.get(line.title)

    def _resampled(self, problem: Problem, titles: list[str], name: str) -> Iterator[Resampled]:
        """Resample a measure for each group of rows with the same test documents."""
        groups: dict[tuple[int, ...], dict[str, NDArray[np.float64]]] = {}
        for title in titles:
            units = self.units(problem, title, name)
            if units is not None:
                groups.setdefault(units.shape, {})[title] = units
        for group in groups.values():
            yield resample(group)

    def pairs(self, problem: Problem, name: str) -> dict[tuple[str, str], float]:
        """The p-value of the difference of any two rows in a measure that tables show."""
        assert self.lines
        return self._pairs.get((problem.name, name), {})

    @cached_property
    def ranks(self) -> dict[str, dict[str, float]]:
        """Title of a row -> measure -> its rank among all rows, averaged over the problems."""
        return self.ranks_among()

    def ranks_among(
        self, chosen: Sequence[str] | None = None, published: bool = False
    ) -> dict[str, dict[str, float]]:
        """Title of a row -> measure -> its rank, averaged over the problems.

        Only rows that have every shown measure on every problem are ranked. Equal values get the
        mean of their ranks, as in the papers. Empty with one problem, or fewer than two rows.

        Parameters
        ----------
        chosen : sequence of str, optional
            Titles of the rows to rank; all by default.
        published : bool
            Rank the published values instead.
        """
        from scipy.stats import rankdata

        names = self.plan.metrics
        whole: list[dict[str, dict[str, float]]] = []
        for lines in self.lines.values():
            values = {line.title: _values(line, published) for line in lines}
            whole.append({title: v for title, v in values.items() if all(n in v for n in names)})
        titles = [title for title in whole[0] if all(title in by_title for by_title in whole)]
        titles = [title for title in titles if chosen is None or title in chosen]
        if len(titles) < 2 or len(whole) < 2:
            return {}
        ranks: dict[str, dict[str, float]] = {title: {} for title in titles}
        for name in names:
            sign = -1 if get_measure(name).greater_is_better else 1
            means = [[sign * by_title[title][name] for title in titles] for by_title in whole]
            for title, rank in zip(titles, np.mean(rankdata(means, axis=1), axis=0), strict=True):
                ranks[title][name] = float(rank)
        return ranks


def _values(line: Line, published: bool) -> dict[str, float]:
    """The values of a row, or those that were published."""
    if published:
        return dict(line.published)
    means = {name: value.mean for name, value in line.values.items()}
    return {name: mean for name, mean in means.items() if not math.isnan(mean)}

"""Rows that each search evaluates, and its time: tables 4 and 5 of Feremans et al."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy import sparse

from manylabel.compare.cells import write_json
from manylabel.compare.data import problem_key
from manylabel.compare.plan import Problem
from manylabel.compare.tables import markdown_table
from manylabel.neighbors.index import NeighborIndex
from manylabel.text.weighting import make_weighting

__all__ = ["PUBLISHED", "measure_search", "search_tables"]

#: The numbers of neighbours and of queries, as in the paper.
_K, _QUERIES = 100, 1000
#: Numbers of rows that differ by at most this share count as the same.
_SAME = 0.01
#: The values of m that the paper tries for table 4, which shows the best, and those of table 5.
_BEST_OF = (1, 5, 10, 15, 20, 25, 100)
_TIMED = (1, 20, 100, 500, 1000)
#: Corpus -> mean number of rows evaluated by Fagin's TA, M-WAND, InstanceKNNFast and TAAT.
PUBLISHED: dict[str, tuple[int, int, int, int]] = {
    "medical": (197, 214, 214, 224),
    "corel5k": (681, 641, 455, 719),
    "bibtex": (4404, 4553, 4762, 4860),
    "delicious": (3412, 3120, 3115, 4141),
    "imdb-f": (28389, 20716, 16170, 33509),
}


def measure_search(
    X: sparse.csr_array, Q: sparse.csr_array, k: int = _K, n_queries: int = _QUERIES
) -> dict[str, Any]:
    """Search for the neighbours of the first queries by plain cosine, with each of the strategies.

    Parameters
    ----------
    X, Q : csr_array
        Unweighted features of the rows and of the queries.
    k : int
    n_queries : int

    Returns
    -------
    dict
        ``candidates`` and ``milliseconds``: mean number of rows evaluated and mean time per query
        with one thread, by strategy; ``m``: the value of m with the fewest candidates; ``rows``
        and ``queries``.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X = sparse.csr_array(np.eye(5) + 0.1)
    >>> measure_search(X, X, k=2)["candidates"]["taat"]
    5.0
    """
    weighting = make_weighting(None).fit(X)
    index = NeighborIndex(weighting.transform(X))
    queries = weighting.transform(Q[:n_queries])
    ways = {"fagin": ("fagin", 1), "wand": ("wand", 1), "taat": ("taat", 1), "auto": ("auto", 1)}
    ways |= {f"m={m}": ("partitioned", m) for m in sorted({*_BEST_OF, *_TIMED})}
    measured: dict[str, dict[str, float]] = {"candidates": {}, "milliseconds": {}}
    for name, (strategy, m) in ways.items():
        index.search(queries[:2], k, strategy=strategy, m=m, n_jobs=1)
        start = time.perf_counter()
        answer = index.search(queries, k, strategy=strategy, m=m, n_jobs=1)
        seconds = time.perf_counter() - start
        measured["candidates"][name] = answer.candidates / queries.shape[0]
        measured["milliseconds"][name] = 1000 * seconds / queries.shape[0]
    best = min(_BEST_OF, key=lambda m: measured["candidates"][f"m={m}"])
    return {**measured, "m": best, "rows": X.shape[0], "queries": queries.shape[0]}


def search_tables(
    problems: tuple[Problem, ...],
    out: Path,
    parts: Callable[[Problem], tuple[sparse.csr_array, sparse.csr_array]],
    collect: bool = False,
) -> tuple[str, str]:
    """Tables 4 and 5 in Markdown, and how many numbers of table 4 are reached.

    Finished measurements in the folder are not repeated.

    Parameters
    ----------
    problems : tuple of Problem
    out : Path
    parts : callable
        Returns the features of the training and test documents of a problem.
    collect : bool
        Measure nothing; use only finished measurements.
    """
    out.mkdir(parents=True, exist_ok=True)
    counted, timed = [], []
    better = reached = worse = missing = 0
    for problem in problems:
        file = out / f"{problem_key(problem, 0 if problem.is_split else None)}.json"
        if not collect and not file.exists():
            write_json(file, measure_search(*parts(problem)))
        if not file.exists():
            missing += 1
            counted.append([problem.heading, *["not run yet"] * 4, ""])
            timed.append([problem.heading, *["not run yet"] * (len(_TIMED) + 3)])
            continue
        measured = json.loads(file.read_text(encoding="utf-8"))
        counts, times = measured["candidates"], measured["milliseconds"]
        ours = [counts["fagin"], counts["wand"], counts[f"m={measured['m']}"], counts["taat"]]
        theirs = PUBLISHED.get(problem.name)
        for value, published in zip(ours, theirs or (), strict=False):
            off = (value - published) / published
            better, worse = better + (off < -_SAME), worse + (off > _SAME)
            reached += abs(off) <= _SAME
        counted.append(
            [
                problem.heading,
                *(
                    f"{value:,.0f}" + (f" ({theirs[position]:,})" if theirs else "")
                    for position, value in enumerate(ours)
                ),
                str(measured["m"]),
            ]
        )
        names = ["wand", *(f"m={m}" for m in _TIMED), "taat", "auto"]
        timed.append([problem.heading, *(f"{times[name]:.2f}" for name in names)])
    header = ["Corpus", "Fagin's TA", "M-WAND", "InstanceKNNFast", "TAAT", "best m"]
    fast = [f"m={m}" for m in _TIMED]
    counts = f"{better} better, {reached} reached, {worse} not reached"
    total = better + reached + worse
    status = counts if total else "not run yet"
    if total and missing:
        status += f"; {missing} of {len(problems)} corpora missing"
    text = (
        "Rows evaluated per query, to find the 100 nearest by plain cosine; means of the first "
        "1,000 test documents, with the paper's in brackets.\n\n"
        f"{markdown_table(header, counted)}\n\n"
        "Milliseconds per query, one thread; `auto` is our default search.\n\n"
        f"{markdown_table(['Corpus', 'M-WAND', *fast, 'TAAT', 'auto'], timed)}\n"
    )
    return text, status

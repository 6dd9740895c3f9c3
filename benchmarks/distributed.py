"""What a cluster costs on one machine, and what that means for many.

python -m benchmarks.distributed [search|predict|costs|check-waits|check-searches|plan ...]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from contextvars import Context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
from scipy import sparse

from benchmarks.common import DATA, corpus, table, versions, weighted
from benchmarks.control_groups import slowed
from benchmarks.simulation import drawn, simulate, wait
from manylabel.corpus import read
from manylabel.distributed import Cluster, connect
from manylabel.distributed.bulk import suggest_batches
from manylabel.linear.candidates import train_on_candidates
from manylabel.linear.training import Settings
from manylabel.neighbors import NeighborIndex
from manylabel.tagger import Tagger

NAME, K = "yso-finna-en", 100
QUERIES = 30_000
#: Queries to learn the length of tasks from, before the simulation predicts the others.
CALIBRATION = 8_192
#: Of a core, for each worker of `check_searches`: four workers take less than one core.
SHARE = 0.2
#: Seconds of Dask's scheduler per task, assumed.
DISPATCH = 5e-4
#: Where measurements are kept for `make_plan`.
NOTES = Path(os.environ.get("MANYLABEL_NOTES", tempfile.gettempdir())) / "manylabel-costs.json"


def remembered() -> dict[str, object]:
    return json.loads(NOTES.read_text()) if NOTES.exists() else {}


def remember(**costs: object) -> None:
    NOTES.write_text(json.dumps(remembered() | costs))


def at_home(call: Callable[[], object]) -> Callable[[], object]:
    """Call it in a new context, without a cluster."""
    return lambda: Context().run(call)


def cpu_seconds() -> float:
    """CPU seconds of this process and of all that it has started."""
    mine = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in [mine, *mine.children(recursive=True)])


def in_turns(runs: int, contenders: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """The shortest time of each by the clock and in CPU time, taking turns."""
    times = {name: [float("inf"), float("inf")] for name in contenders}
    for _ in range(runs):
        for name, call in contenders.items():
            cpu, start = cpu_seconds(), time.perf_counter()
            call()
            taken = time.perf_counter() - start, cpu_seconds() - cpu
            times[name] = [min(pair) for pair in zip(times[name], taken, strict=True)]
    return times


def compared(times: dict[str, list[float]], memory: float) -> str:
    """The table of two ways to do the same."""
    header = ["way", "seconds", "ratio", "CPU seconds", "ratio", "MB per worker"]
    (here, here_cpu), (there, there_cpu) = times["jobs"], times["dask"]
    rows = [
        ["--jobs 2", here, 1.0, here_cpu, 1.0, ""],
        ["--dask local:2", there, there / here, there_cpu, there_cpu / here_cpu, memory],
    ]
    return table(header, rows)


def memory_of_workers(cluster: Cluster) -> float:
    """The peak memory of any worker, in MB."""
    return max(receipt.peak_memory or 0 for receipt in cluster.receipts) / 1e6


def measure_search() -> None:
    """The same queries with two threads and with two processes of a cluster."""
    train, test = weighted(NAME)
    queries = test[:QUERIES]
    index = NeighborIndex(train)
    index.search(queries[:2000], K, n_jobs=2)
    start = time.perf_counter()
    with connect("local:2") as cluster:
        print(f"starting a cluster of 2: {time.perf_counter() - start:.1f} s\n")
        start = time.perf_counter()
        index.search(queries[:2000], K)
        print(f"first search, with the index published: {time.perf_counter() - start:.1f} s\n")
        cluster.receipts.clear()
        times = in_turns(
            3,
            {
                "jobs": at_home(lambda: index.search(queries, K, n_jobs=2)),
                "dask": lambda: index.search(queries, K),
            },
        )
        seconds = [receipt.cpu_seconds for receipt in cluster.receipts]
        memory = memory_of_workers(cluster)
    print(f"### {QUERIES:,} searches for {K} neighbours\n")
    print(compared(times, memory), "\n")
    measure_shards(index, queries[:8000])
    remember(
        search_tasks=seconds,
        search_queries=1024,
        rows=index.n_rows,
        nonzeros=int(train.nnz),
        index_bytes=sum(array.nbytes for array in index.arrays().values()),
    )


def measure_shards(index: NeighborIndex, queries: sparse.csr_array) -> None:
    """What shards cost: every query goes to each of them."""
    whole = index.rows()
    lines = []
    with connect("local:2", shard_rows=1 << 17) as cluster:
        shards = NeighborIndex(whole)
        for name, one in (("1 shard", index), (f"{len(shards._shards)} shards", shards)):
            one.search(queries, K)
            cluster.receipts.clear()
            start = time.perf_counter()
            one.search(queries, K)
            work = sum(receipt.cpu_seconds for receipt in cluster.receipts)
            lines.append([name, time.perf_counter() - start, work, memory_of_workers(cluster)])
            remember(shard_query=work / queries.shape[0] / len(one._shards))
    print("### Shards\n")
    print(table(["index", "seconds", "CPU seconds of workers", "MB per worker"], lines), "\n")


def measure_prediction() -> None:
    """Suggestions for titles, by LCIF, in batches of a thousand."""
    train, test = (read(next((DATA / NAME).glob(f"{part}.*"))) for part in ("train", "test"))
    tagger = Tagger("lcif", parameters={"k": 50, "threshold": "top"}, n_jobs=2)
    tagger.fit(train[:200_000])
    some = test[:20_000]
    parts = [some[start : start + 1000] for start in range(0, len(some), 1000)]
    with tempfile.TemporaryDirectory() as folder:
        tagger.save(folder)
        tagger = Tagger.load(folder, n_jobs=2)
        tagger.suggest(parts[0])

        here = at_home(lambda: [tagger.suggest(part) for part in parts])
        with connect("local:2") as cluster:
            start = time.perf_counter()
            list(suggest_batches(cluster, tagger, parts[:2]))
            print(f"model published and opened: {time.perf_counter() - start:.1f} s\n")
            cluster.receipts.clear()
            times = in_turns(
                3, {"jobs": here, "dask": lambda: list(suggest_batches(cluster, tagger, parts))}
            )
            memory = memory_of_workers(cluster)
            seconds = [receipt.cpu_seconds for receipt in cluster.receipts]
    print(f"### Labels for {len(some):,} titles by LCIF of 200,000\n")
    print(compared(times, memory), "\n")
    remember(predict_tasks=seconds, predict_documents=1000)


def labels_of(neighbours: np.ndarray, Y: sparse.csr_array) -> sparse.csr_array:
    """The labels of each row's neighbours, as ones."""
    rows, ranks = np.nonzero(neighbours >= 0)
    shape = (len(neighbours), Y.shape[0])
    has = sparse.csr_array((np.ones(rows.size, np.int32), (rows, neighbours[rows, ranks])), shape)
    labels = sparse.csr_array(has @ Y.astype(np.int32))
    return sparse.csr_array(
        (np.ones(labels.nnz, np.int8), labels.indices, labels.indptr), labels.shape
    ).sorted_indices()


def measure_costs() -> None:
    """Costs of tasks, candidates and bytes."""
    with connect("local:2") as cluster:
        list(cluster.map_blocks(range, (), 8, 1, fixed=True))
        start = time.perf_counter()
        list(cluster.map_blocks(range, (), 200, 1, fixed=True))
        task = (time.perf_counter() - start) / 200
    train, _ = corpus(NAME)
    rows, _ = weighted(NAME)
    n = 40_000
    index = NeighborIndex(rows[:n])
    nearest = index.search_self(50, n_jobs=2)
    candidates = labels_of(nearest.indices, train.Y[:n])
    settings = Settings(1.0, True, 0.01, 1000, 0.1, 0, 1, False)
    start = time.process_time()
    model, _, _ = train_on_candidates(rows[:n], train.Y[:n], candidates, settings)
    seconds = time.process_time() - start
    remember(
        task=task,
        pair_seconds=seconds / candidates.nnz,
        pairs_per_document=candidates.nnz / n,
        weights_per_pair=model.coef.nnz / candidates.nnz,
    )
    print("### Costs\n")
    print(
        table(
            ["what", "cost"],
            [
                ["a task that does nothing, ms", 1e3 * task],
                ["training a pair of document and candidate, µs", 1e6 * seconds / candidates.nnz],
                ["such pairs per document", candidates.nnz / n],
                ["weights kept per pair", model.coef.nnz / candidates.nnz],
            ],
        ),
        "\n",
    )


class Run(NamedTuple):
    """A job on a cluster: seconds by the clock, of each task, and of this process's cores."""

    seconds: float
    tasks: np.ndarray
    cpu: float


def run_on(
    n_workers: int,
    warm: Callable[[Cluster], object],
    call: Callable[[Cluster], object],
    share: float | None = None,
) -> Run:
    """Run a job on workers that have opened the files they need, each with a share of a core."""
    with connect(f"local:{n_workers}") as cluster, ExitStack() as stack:
        while len({receipt.worker for receipt in cluster.receipts}) < n_workers:
            warm(cluster)
        if share is not None:
            stack.enter_context(slowed(cluster.client.run(os.getpid).values(), share))
        cluster.receipts.clear()
        start, cpu = time.perf_counter(), time.process_time()
        call(cluster)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        return Run(seconds, np.array([receipt.seconds for receipt in cluster.receipts]), cpu)


def predicted_and_measured(
    lengths: np.ndarray,
    seen: Run,
    warm: Callable[[Cluster], object],
    call: Callable[[Cluster], object],
    share: float | None = None,
) -> str:
    """The table of a simulation beside real runs.

    Parameters
    ----------
    lengths : array
        Seconds of each task, as the simulation knows them.
    seen : Run
        A run of other tasks with one worker: it says what the cluster adds to each.
    warm, call : callable
    share : float, optional
        Of a core, for each worker.
    """
    take = seen.cpu / seen.tasks.size
    between = max(0.0, (seen.seconds - seen.tasks.sum()) / seen.tasks.size - take)
    print(f"{1e3 * between:.1f} ms between two tasks, {1e3 * take:.1f} ms of the client.\n")
    found: list[list[object]] = []
    for workers in (1, 2, 4):
        expected = simulate(lengths + between, workers, DISPATCH, take).seconds
        measured = run_on(workers, warm, call, share).seconds
        found.append([workers, expected, measured, expected / measured])
    return table(["workers", "predicted, s", "measured, s", "ratio"], found)


def check_waits() -> None:
    """The simulation beside real runs of tasks that need time, but no core."""
    random = np.random.default_rng(0)
    lengths, others = random.gamma(4, 0.2, 60), random.gamma(4, 0.2, 20)

    def run(cluster: Cluster, lengths: np.ndarray) -> None:
        list(cluster.map_blocks(wait, (lengths,), lengths.size, 1, fixed=True))

    def warm(cluster: Cluster) -> None:
        run(cluster, np.full(8, 0.2))

    seen = run_on(1, warm, lambda cluster: run(cluster, others))
    print("### The simulation beside real runs: tasks that wait\n")
    print(f"{lengths.size} tasks of {lengths.min():.1f} to {lengths.max():.1f} s;", end=" ")
    found = predicted_and_measured(lengths, seen, warm, lambda cluster: run(cluster, lengths))
    print(found, "\n")


def check_searches() -> None:
    """The simulation beside real runs of searches: each worker has a part of a core.

    Workers that share cores are not machines. With a share that the cores have several times, each
    works as long as a slow machine would. Needs root and control groups.
    """
    train, test = weighted(NAME)
    index = NeighborIndex(train)
    first, rest = test[:CALIBRATION], test[CALIBRATION : CALIBRATION + 20 * 1024]

    def warm(cluster: Cluster) -> None:
        index.search(first[:4096], K)

    seen = run_on(1, warm, lambda cluster: index.search(first, K), SHARE)
    print("### The simulation beside real runs: searches\n")
    print(f"Each worker has {SHARE} of a core. 20 tasks,", end=" ")
    print(f"drawn from {seen.tasks.size} of {seen.tasks.mean():.2f} s;", end=" ")
    lengths = drawn(seen.tasks, 20, 1.0)
    found = predicted_and_measured(
        lengths, seen, warm, lambda cluster: index.search(rest, K), SHARE
    )
    print(found, "\n")


def make_plan() -> None:
    """Ten and a hundred million titles with a million labels."""
    known = remembered()
    measured = np.array(known["search_tasks"])
    predicting = np.array(known["predict_tasks"])
    rows, task = int(known["rows"]), float(known["task"])
    bytes_per_row = known["index_bytes"] / rows
    header = ["", "10 million", "100 million"]
    sizes = (10_000_000, 100_000_000)

    def line(name: str, value) -> list[object]:
        return [name, *(value(n) for n in sizes)]

    search = float(measured.mean()) / known["search_queries"] / rows
    pairs = known["pairs_per_document"]
    lines = [
        line("index, GB", lambda n: n * bytes_per_row / 1e9),
        line("shards of 4 million rows", lambda n: -(-n // 4_000_000)),
        line("GB per shard", lambda n: min(n, 4_000_000) * bytes_per_row / 1e9),
        line("a query over all shards, core ms", lambda n: 1e3 * search * n),
        line("leave-one-out search, core hours", lambda n: search * n * n / 3600),
        line("the same for 2 million documents, core hours", lambda n: search * n * 2e6 / 3600),
        # A group of `quick` is half as large as the shards whose queries were measured.
        line("search in groups, at most, core hours", lambda n: n * known["shard_query"] / 3600),
        line("training pairs, billions", lambda n: n * pairs / 1e9),
        line("training the pairs, core hours", lambda n: n * pairs * known["pair_seconds"] / 3600),
        line("weights, GB", lambda n: 8 * n * pairs * known["weights_per_pair"] / 1e9),
        line("answers of shards a query, kB", lambda n: 8 * K * -(-n // 4_000_000) / 1e3),
    ]
    print("### A plan\n")
    print(table(header, lines), "\n")
    print("### A schedule\n")
    found = []
    for n in sizes:
        shards = -(-n // 4_000_000)
        scale = min(n, 4_000_000) / rows
        # A million documents to label, 1,024 per task and shard.
        tasks = drawn(measured, shards * -(-1_000_000 // 1024), scale)
        for workers in (16, 64, 256, 1024):
            run = simulate(tasks, workers, DISPATCH, task / 4)
            found.append([n, tasks.size, workers, run.seconds / 3600, run.busy])
    print(table(["documents", "tasks", "workers", "hours", "busy"], found), "\n")
    few = drawn(predicting, 1000, 1.0)
    found = [
        [
            workers,
            simulate(few, workers, DISPATCH, 0.02).seconds,
            simulate(few, workers, DISPATCH, 0.02).busy,
        ]
        for workers in (2, 16, 64, 256)
    ]
    print("A million titles by a model that a worker can hold:\n")
    print(table(["workers", "seconds", "busy"], found), "\n")


STEPS = {
    "search": measure_search,
    "predict": measure_prediction,
    "costs": measure_costs,
    "check-waits": check_waits,
    "check-searches": check_searches,
    "plan": make_plan,
}


def main() -> None:
    print("## Clusters\n")
    print(versions("manylabel", "dask", "distributed", "numpy", "numba"), "\n")
    for name in sys.argv[1:] or STEPS:
        STEPS[name]()


if __name__ == "__main__":
    main()

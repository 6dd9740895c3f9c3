"""A Dask cluster whose workers, scheduler and links fail at random; answers stay the same bits.

``python -m torture.cluster --seconds 3600`` runs jobs for an hour, one after the other. A job that
loses its cluster says so in one sentence, and runs again with the same spool, as a person would do.
Its result must be what one process finds, to the last bit. All traffic stays on loopback.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import across
import numpy as np
from dask_processes import Processes
from tcp_proxy import Proxy

from manylabel import LDA
from manylabel.corpus import load_catalogue
from manylabel.distributed import use
from manylabel.exceptions import ClusterError

#: Seconds to find a scheduler, and to wait for a worker.
PATIENCE = 60


def chain(cluster: Any) -> str:
    """A long chain of a topic model, which saves its state on the way."""
    books = load_catalogue("train").vectorized()
    topics = LDA(n_topics=3, partitions=4, burn_in=3, random_state=1).fit(books.X)
    return hashlib.sha256(np.ascontiguousarray(topics.components_).tobytes()).hexdigest()


JOBS = across.JOBS | {"chain": chain}


class Site(Processes):
    """A cluster behind two links: one for the workers, one for the client."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        super().__init__(folder, "sleepy")
        self.n_workers = n_workers
        target = ("127.0.0.1", self.port)
        self.links = {"link of the workers": Proxy(target), "link of the client": Proxy(target)}
        self._stack = ExitStack()
        self.ports = [link.port for link in self.links.values()]
        # Workers take the address that they were given; the scheduler listens behind it.
        self.address = f"tcp://127.0.0.1:{self.ports[0]}"
        self.lock = threading.Lock()

    def __enter__(self) -> Site:
        for link in self.links.values():
            self._stack.enter_context(link)
        self.start_scheduler()
        self.start_workers(self.n_workers)
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._stack.close()

    def watch(self) -> int:
        """Start again what has ended; how many processes that were."""
        with self.lock:
            ended = 0
            if self.scheduler is not None and self.scheduler.poll() is not None:
                self.start_scheduler()
                ended += 1
            alive = [worker for worker in self.workers if worker.poll() is None]
            ended += len(self.workers) - len(alive)
            self.workers = alive
            self.start_workers(self.n_workers - len(alive))
            return ended

    def fail(self, rng: random.Random, stop: threading.Event) -> str:
        """Something fails; what it was."""
        what = rng.choice(["worker", "worker", "scheduler", "frozen worker", *self.links])
        if what == "scheduler":
            with self.lock:
                self.kill_scheduler()
        elif what in self.links:
            self.links[what].cut()
            stop.wait(rng.uniform(0, 4))
            self.links[what].mend()
        else:
            with self.lock:
                worker = rng.choice(self.workers)
            if what == "worker":
                worker.kill()
            else:
                worker.send_signal(signal.SIGSTOP)
                stop.wait(rng.uniform(1, 6))
                worker.send_signal(signal.SIGCONT)
        return what


def campaign(seed: int, seconds: float, every: float = 25, n_workers: int = 2) -> Counter[str]:
    """Run jobs while things fail; counts of what happened. Raises if a result differs."""
    across.small_tasks()
    expected = {name: job(None) for name, job in JOBS.items()}
    rng, counts, stop = random.Random(seed), Counter[str](), threading.Event()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        (Path(place) / "cluster").mkdir()
        with Site(Path(place) / "cluster", n_workers) as site:
            threads = [
                threading.Thread(target=_watch, args=(site, stop, counts)),
                threading.Thread(
                    target=_fail, args=(site, stop, counts, random.Random(rng.random()), every)
                ),
            ]
            for thread in threads:
                thread.start()
            try:
                number = 0
                while time.monotonic() < until:
                    name, spool = rng.choice(sorted(JOBS)), Path(place) / f"spool-{number}"
                    found = _run(name, f"{rng.choice(['', 'dask:'])}{spool}", site, counts)
                    assert found == expected[name], f"job {number}, {name}: other bits"
                    counts["jobs"] += 1
                    counts[f"job {name}"] += 1
                    number += 1
                    print(f"{time.monotonic() - until + seconds:.0f} s", dict(counts), flush=True)
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
    return counts


def _run(name: str, spool: str, site: Site, counts: Counter[str]) -> str:
    """The result of a job, which is started again until it ends."""
    from distributed import Client

    address = f"tcp://127.0.0.1:{site.ports[1]}"
    for _ in range(200):
        try:
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        except OSError:
            counts["no scheduler"] += 1
            time.sleep(1)
            continue
        try:
            with use(client, spool, patience=PATIENCE, max_tasks=16) as cluster:
                return JOBS[name](cluster)
        except ClusterError:
            counts["job lost its cluster"] += 1
        finally:
            client.close(timeout=5)
    raise AssertionError(f"{name}: 200 attempts were not enough")


def _watch(site: Site, stop: threading.Event, counts: Counter[str]) -> None:
    while not stop.wait(0.5):
        counts["processes started again"] += site.watch()


def _fail(
    site: Site, stop: threading.Event, counts: Counter[str], rng: random.Random, every: float
) -> None:
    while not stop.wait(every * rng.uniform(0.5, 1.5)):
        counts[site.fail(rng, stop)] += 1


def attack(seed: int) -> None:
    """Two minutes of the campaign; run this file for longer ones."""
    campaign(seed, 120, every=15)


def main() -> None:
    """Run the long campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--every", type=float, default=25, help="seconds between two faults")
    chosen = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    print("end", dict(campaign(chosen.seed, chosen.seconds, chosen.every)))


if __name__ == "__main__":
    main()

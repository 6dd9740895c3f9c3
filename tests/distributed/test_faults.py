"""Workers and schedulers die; answers do not change."""

from __future__ import annotations

import random
import time
from types import SimpleNamespace

import numpy as np
import pytest
from dask_processes import PATIENCE, Processes, Reacting
from distributed import Client
from distributed.comm import CommClosedError

from manylabel import LCIF, LDA, NeighborIndex, SubsetSVM, Tagger, store
from manylabel.corpus import Corpus
from manylabel.distributed import use
from manylabel.distributed.bulk import suggest_batches
from manylabel.exceptions import ClusterError

pytestmark = pytest.mark.filterwarnings("ignore")


def texts(n):
    rng = random.Random(5)
    words = [f"word{i}" for i in range(80)]
    return [" ".join(rng.choices(words, k=12)) for _ in range(n)]


@pytest.fixture(scope="module")
def tagger():
    documents = texts(200)
    labels = [[f"about-{text.split()[0]}"] for text in documents]
    return Tagger("lcif", parameters={"k": 5}).fit(documents, labels)


@pytest.fixture
def client(processes):
    with Client(processes.address, timeout=PATIENCE, set_as_default=False) as client:
        yield client


def search(X, Y):
    found = NeighborIndex(X).search_self(5)
    return found.indices, found.similarities


def linear(X, Y):
    # A given C: otherwise several are tried, with more tasks.
    return SubsetSVM(n_neighbors=5, C=1.0).fit(X, Y).coef_.toarray()


def words(X, Y):
    return LCIF(k=5).fit(X, Y).source_.features.plain.data


def chain(X, Y):
    return LDA(n_topics=3, partitions=4, burn_in=3).fit(X).components_


def predicted(X, Y):
    return LCIF(k=5).fit(X, Y).decision_function(X).data


#: Each kind of job with the number of tasks after which a worker dies.
JOBS = {search: 4, linear: 9, words: 1, chain: 6, predicted: 14}


@pytest.fixture
def _small_tasks(monkeypatch):
    monkeypatch.setattr("manylabel.neighbors.index.TASK", 70)
    monkeypatch.setattr("manylabel.neighbors.features.BLOCK", 130)
    monkeypatch.setattr("manylabel.linear.training.BLOCK", 2)
    monkeypatch.setattr("manylabel.base.BLOCK", 70)


@pytest.mark.usefixtures("_small_tasks")
@pytest.mark.parametrize(
    ("job", "times"),
    [
        (search, 1),
        pytest.param(linear, 1, marks=pytest.mark.slow),
        *(pytest.param(job, 4, marks=pytest.mark.slow) for job in JOBS),
    ],
)
def test_a_worker_may_die_in_the_middle(processes, client, problem, spool, job, times):
    expected = job(*problem)
    deaths = {max(1, JOBS[job] - 2 * i) for i in range(times)}
    with use(client, spool, patience=PATIENCE, max_tasks=6, shard_rows=250) as cluster:
        cluster.receipts = Reacting(deaths, processes.kill_a_worker)
        found = job(*problem)
        assert cluster.receipts.times == len(deaths)
    for mine, theirs in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for result in spool.glob("results/*/*"):
        if result.suffix != ".tmp":
            store.load(result, verify=True)  # Whatever has its final name is complete.


@pytest.mark.slow
def test_bulk_prediction_survives_its_workers(processes, client, tagger, spool):
    parts = [Corpus.from_texts(texts(120)[i : i + 10], [[]] * 10) for i in range(0, 120, 10)]
    expected = [tagger.suggest(part) for part in parts]
    with use(client, spool, patience=PATIENCE) as cluster:
        cluster.receipts = Reacting({3}, processes.kill_a_worker)
        found = [part.suggestions for part in suggest_batches(cluster, tagger, parts)]
    assert found == expected
    with use(client, spool, patience=PATIENCE) as cluster:
        again = list(suggest_batches(cluster, tagger, parts))
        assert not cluster.receipts, "parts that are finished do not run again"
    assert [part.suggestions for part in again] == expected
    assert [part.number for part in again] == list(range(12))


@pytest.mark.slow
@pytest.mark.usefixtures("_small_tasks")
def test_when_the_scheduler_dies_the_next_run_goes_on(tmp_path, problem, spool):
    expected = linear(*problem)
    with Processes(tmp_path) as mine:
        mine.start_workers(1)
        sentence = "the scheduler at tcp://.* can no longer be reached; .* is kept in .*spool"
        with (
            Client(mine.address, timeout=PATIENCE, set_as_default=False) as client,
            use(client, spool, patience=PATIENCE, max_tasks=6) as cluster,
        ):
            cluster.receipts = Reacting({9}, mine.kill_scheduler)
            with pytest.raises(ClusterError, match=sentence):
                linear(*problem)
        n_done = len(cluster.receipts)
        assert n_done == 9
        for worker in mine.workers:
            worker.kill()
        mine.start_scheduler()
        mine.start_workers(1)
        with (
            Client(mine.address, timeout=PATIENCE, set_as_default=False) as client,
            use(client, spool, patience=PATIENCE, max_tasks=6) as cluster,
        ):
            np.testing.assert_array_equal(linear(*problem), expected)
            # Six blocks of rows and as many of labels.
            assert 0 < len(cluster.receipts) <= 12 - n_done


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("ignorant", "manylabel is not installed on the worker tcp://.*; install .* there"),
        (
            "old",
            r"has manylabel 0\.0\.9, but this process has .*; install the same version everywhere",
        ),
    ],
)
def test_workers_without_the_same_manylabel_are_refused(processes, client, kind, sentence):
    processes.start_workers(1, kind)
    client.wait_for_workers(3, timeout=PATIENCE)
    with pytest.raises(ClusterError, match=sentence), use(client):
        pass
    processes.workers.pop().kill()
    while len(client.nthreads()) > 2:
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("poison", "ZeroDivisionError: this document is poison"),
        pytest.param(
            "deadly", "every worker that ran it died without a message", marks=pytest.mark.slow
        ),
    ],
)
def test_a_document_that_always_fails_is_named_and_the_rest_finishes(
    tmp_path, tagger, word, reason
):
    documents = texts(24)
    documents[13] += f" {word}"
    parts = [Corpus.from_texts(documents[i : i + 8], [[]] * 8) for i in range(0, 24, 8)]
    expected = [tagger.suggest(part) for part in parts]
    del expected[1][5]
    with Processes(tmp_path, "allergic") as mine:
        mine.start_workers(1)
        with (
            _restarting(mine),
            Client(mine.address, timeout=PATIENCE, set_as_default=False) as client,
            use(client, patience=PATIENCE) as cluster,
        ):
            found = list(suggest_batches(cluster, tagger, parts))
    assert [part.suggestions for part in found] == expected
    assert [part.failures for part in found] == [[], [("5", reason)], []]


class _restarting:  # noqa: N801 - reads as a statement
    """Starts a worker for each one that died."""

    def __init__(self, processes):
        import threading

        self._processes, self._stop = processes, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        while not self._stop.wait(0.2):
            for worker in list(self._processes.workers):
                if worker.poll() is not None:
                    self._processes.workers.remove(worker)
                    self._processes.start_workers(1)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()


@pytest.mark.slow
def test_without_workers_it_does_not_wait_for_ever(tmp_path):
    with (
        Processes(tmp_path) as mine,
        Client(mine.address, timeout=PATIENCE, set_as_default=False) as client,
        pytest.raises(ClusterError, match="has no workers; start some"),
        use(client, patience=0.5),
    ):
        pass


class _Failing:
    """A client whose scheduler answers some questions, and then is gone."""

    scheduler = SimpleNamespace(address="tcp://gone:1")
    status = "running"

    def __init__(self, answers):
        self._answers = answers

    def wait_for_workers(self, n, timeout):
        if self._answers is None:
            raise CommClosedError("Stream is closed")

    def run(self, function, probe, on_error):
        if isinstance(self._answers, Exception):
            raise self._answers
        return self._answers


@pytest.mark.parametrize("answers", [None, CommClosedError("Stream is closed")])
def test_a_scheduler_that_dies_while_a_client_connects(answers):
    sentence = "the scheduler at tcp://gone:1 can no longer be reached"
    with pytest.raises(ClusterError, match=sentence), use(_Failing(answers)):
        pass


def test_a_worker_that_dies_while_it_is_asked_does_not_count():
    with use(_Failing({"tcp://gone:2": OSError("closed")})) as cluster:
        assert cluster.address == "tcp://gone:1"

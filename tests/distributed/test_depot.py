"""Clusters whose machines share no disk."""

from __future__ import annotations

import io
import random
import secrets

import numpy as np
import pytest
from scipy import sparse

from manylabel import LDA, NeighborIndex, SubsetSVM, Tagger
from manylabel.corpus import Corpus, load_catalogue
from manylabel.distributed import use
from manylabel.distributed.bulk import suggest_batches
from manylabel.distributed.cache import Cache
from manylabel.distributed.depot import Depot, depot_at
from manylabel.distributed.packing import packed, unpack
from manylabel.distributed.spool import Spool, keep
from manylabel.exceptions import ClusterError, MissingExtraError, StoreError

fsspec = pytest.importorskip("fsspec")
memory = pytest.importorskip("fsspec.implementations.memory")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


class Flaky(memory.MemoryFileSystem):
    """Fails, and damages what it sends, every few calls; the same calls with the same seed."""

    protocol = "flaky"
    store: dict = {}  # noqa: RUF012 - fsspec's own way
    pseudo_dirs = [""]  # noqa: RUF012
    cachable = False
    trouble = random.Random(1)
    faults = 0

    @classmethod
    def _strip_protocol(cls, path):
        return memory.MemoryFileSystem._strip_protocol(path.replace("flaky://", "memory://"))

    def _stumble(self):
        if self.trouble.random() < 0.2:
            type(self).faults += 1
            raise ConnectionResetError("the connection was reset")

    def exists(self, path, **options):
        self._stumble()
        return super().exists(path, **options)

    def put_file(self, source, path, **options):
        self._stumble()
        return super().put_file(source, path, **options)

    def get_file(self, path, target, **options):
        self._stumble()
        super().get_file(path, target, **options)
        if self.trouble.random() < 0.2:
            type(self).faults += 1
            with open(target, "r+b") as file:
                file.seek(700)
                file.write(b"\xff")


@pytest.fixture(
    params=[
        pytest.param("memory://", marks=pytest.mark.slow),
        "flaky://",
        pytest.param("dask", marks=pytest.mark.slow),
        "dask:",
    ]
)
def apart(request, tmp_path, monkeypatch):
    """A spool that is not a shared folder."""
    if request.param == "flaky://":
        fsspec.register_implementation("flaky", Flaky, clobber=True)
        monkeypatch.setattr("manylabel.distributed.depot._PAUSE", 0.001)
        monkeypatch.setattr("manylabel.distributed.depot._TRIES", 12)
    if request.param == "dask":
        return "dask"
    return request.param + (str(tmp_path / "own") if request.param == "dask:" else _name())


def _name():
    return f"spool-{secrets.token_hex(4)}"


def test_a_folder_survives_its_travel(tmp_path):
    keep({"a": np.arange(5), "b": ["x"]}, tmp_path / "one")
    data = packed(tmp_path / "one")
    unpack(io.BytesIO(data), len(data), tmp_path / "two")
    names = [path.name for path in (tmp_path / "one").rglob("*")]
    assert sorted(names) == sorted(path.name for path in (tmp_path / "two").rglob("*"))


@pytest.mark.parametrize("harm", ["cut", "bit", "longer", "empty"])
def test_damage_on_the_way_is_noticed(tmp_path, harm):
    keep(np.arange(50), tmp_path / "one")
    data = bytearray(packed(tmp_path / "one"))
    if harm == "bit":
        data[1000] ^= 1
    data = {"cut": data[:-40], "longer": data + b"!", "empty": b""}.get(harm, data)
    with pytest.raises(StoreError, match="bytes of two do not match their checksum"):
        unpack(io.BytesIO(data), len(data), tmp_path / "two")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_work_is_the_same_without_a_shared_folder(client, problem, apart):
    X, Y = problem
    index = NeighborIndex(X[:250])
    expected = SubsetSVM(n_neighbors=10).fit(X, Y).decision_function(X)
    found_here = index.search(X, 9)
    with use(client, apart, max_tasks=4, shard_rows=150) as cluster:
        found = index.search(X, 9)
        again = SubsetSVM(n_neighbors=10).fit(X, Y).decision_function(X)
        assert len(cluster.receipts) > 8
        n_tasks = len(cluster.receipts)
    np.testing.assert_array_equal(found.indices, found_here.indices)
    np.testing.assert_array_equal(found.similarities, found_here.similarities)
    np.testing.assert_array_equal(again.toarray(), expected.toarray())
    with use(client, apart, max_tasks=4, shard_rows=150) as cluster:
        SubsetSVM(n_neighbors=10).fit(X, Y)
        assert len(cluster.receipts) == (0 if apart != "dask" else len(cluster.receipts))
        assert len(cluster.receipts) < n_tasks
    if apart.startswith("flaky"):
        assert Flaky.faults > 3


@pytest.mark.slow
def test_chains_keep_their_checkpoints_in_the_depot(client, problem):
    address = f"memory://{_name()}"
    lda = LDA(n_topics=3, partitions=2, burn_in=12)
    expected = lda.fit(problem[0]).components_
    with use(client, address):
        np.testing.assert_array_equal(lda.fit(problem[0]).components_, expected)
    with use(client, address) as cluster:
        np.testing.assert_array_equal(lda.fit(problem[0]).components_, expected)
        assert len(cluster.receipts) < 12


def test_suggestions_go_through_dask(client):
    books = load_catalogue("train")
    tagger = Tagger("lcif", parameters={"k": 5}).fit(books)
    texts = load_catalogue("test").texts[:40]
    parts = [Corpus.from_texts(texts[i : i + 8], [[]] * 8) for i in range(0, 40, 8)]
    with use(client, "dask") as cluster:
        found = [part.suggestions for part in suggest_batches(cluster, tagger, parts)]
        assert not cluster._chunks, "nothing stays in the workers' memory"
    assert found == [tagger.suggest(part) for part in parts]


def test_a_cache_forgets_what_was_not_used_for_longest(tmp_path):
    cache = Cache(tmp_path / "cache", 250)
    fetched = []

    def fetch(path):
        fetched.append(path.name)
        path.mkdir(parents=True)
        (path / "data").write_bytes(bytes(100))

    for key in ("a", "b", "a", "c", "a", "b"):
        assert (cache.get(key, fetch) / "data").exists()
        assert cache.size <= 250
    assert fetched == ["a", "b", "c", "b"]
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a", "b"]
    cache.get("d", fetch, keep={"a", "b"})
    assert cache.size == 300, "what a task uses stays"


def test_a_worker_with_a_small_cache_fetches_again(client, problem):
    X, Y = problem
    expected = SubsetSVM(n_neighbors=10).fit(X, Y).coef_
    with use(client, f"memory://{_name()}", max_tasks=4, worker_cache=1):
        np.testing.assert_array_equal(
            SubsetSVM(n_neighbors=10).fit(X, Y).coef_.toarray(), expected.toarray()
        )


def test_a_damaged_result_of_a_depot_runs_again(tmp_path):
    depot = Depot(f"memory://{_name()}")
    spool = Spool(tmp_path, lasting=True, depot=depot)
    path = spool.path_of_result("job", "0-5")
    assert spool.result(path) is None
    keep(sparse.csr_array(np.eye(3)), path)
    spool._sent(path)
    assert spool.finished("job") == {"0-5"}
    spool.drop([path])
    (array, *_) = path.glob("data-*/*.npy")
    array.write_bytes(array.read_bytes()[:-8])
    assert spool.result(path) is None
    assert spool.finished("job") == set(), "it is gone everywhere"


def test_a_depot_that_does_not_answer_is_one_sentence(monkeypatch):
    fsspec.register_implementation("flaky", Flaky, clobber=True)
    monkeypatch.setattr("manylabel.distributed.depot._TRIES", 1)
    depot = Depot(f"flaky://{_name()}")
    monkeypatch.setattr(Flaky, "trouble", random.Random(2))
    sentence = r"flaky://.* does not respond \(the connection was reset\); check the address"
    with pytest.raises(ClusterError, match=sentence):
        [depot.has("x") for _ in range(40)]


def test_missing_packages_and_unknown_addresses_are_one_sentence(monkeypatch):
    with pytest.raises(ClusterError, match="invalid spool 'what://x': Protocol not known: what"):
        Depot("what://x")
    monkeypatch.setattr(fsspec.core, "url_to_fs", _not_installed)
    with pytest.raises(MissingExtraError, match=r"The spool s3://b/x needs s3fs; install it with"):
        Depot("s3://b/x")


def _not_installed(address, **options):
    raise ImportError("Install s3fs to access S3")


def test_a_worker_that_does_not_reach_the_depot_is_refused(client, monkeypatch):
    monkeypatch.setattr("manylabel.distributed.depot.peek", lambda *given: False)
    with (
        pytest.raises(ClusterError, match=r"cannot access the spool memory://.*; give a `spool`"),
        use(client, f"memory://{_name()}"),
    ):
        pass
    assert depot_at("memory://x") is depot_at("memory://x")

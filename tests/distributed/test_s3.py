"""A spool in S3, over links that break."""

from __future__ import annotations

import numpy as np
import pytest
from tcp_proxy import Proxy

from manylabel import CountVectorizer, SubsetSVM, read
from manylabel.corpus import load_catalogue, write
from manylabel.distributed import read_in_chunks, use
from manylabel.distributed.depot import Depot
from manylabel.distributed.spool import keep
from manylabel.exceptions import ClusterError

pytest.importorskip("s3fs", reason="needs the extra long-tests")
server = pytest.importorskip("moto.server", reason="needs the extra long-tests")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def link():
    """A server that speaks S3, behind a link that can be cut."""
    with pytest.MonkeyPatch.context() as patch:
        moto = server.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
        moto.start()
        with Proxy(moto.get_host_and_port()) as proxy:
            patch.setenv("AWS_ACCESS_KEY_ID", "someone")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
            import s3fs

            s3fs.S3FileSystem.clear_instance_cache()
            s3fs.S3FileSystem().mkdir("shelf")
            yield proxy
        s3fs.S3FileSystem.clear_instance_cache()
        moto.stop()


def test_objects_survive_connections_that_break(link, tmp_path):
    keep({"a": np.arange(200_000.0)}, tmp_path / "one")
    depot = Depot("s3://shelf/broken")
    depot.put("inputs/one", tmp_path / "one")
    link.cut_after, link.cuts_left = 500_000, 3
    depot.get("inputs/one", tmp_path / "two")
    assert link.n_cuts == 3
    link.cut_after = None
    for mine in (tmp_path / "one").rglob("*.npy"):
        theirs = tmp_path / "two" / mine.relative_to(tmp_path / "one")
        assert mine.read_bytes() == theirs.read_bytes()
    assert depot.names("inputs") == {"one"}
    depot.remove()
    assert depot.names("inputs") == set()


def test_training_goes_on_while_connections_break(link, client, problem):
    X, Y = problem
    expected = SubsetSVM(n_neighbors=10).fit(X, Y).coef_.toarray()
    link.cut_after, link.cuts_left = 2_000, 4
    with use(client, "s3://shelf/training", max_tasks=4) as cluster:
        found = SubsetSVM(n_neighbors=10).fit(X, Y).coef_.toarray()
        n_tasks = len(cluster.receipts)
    link.cut_after = None
    np.testing.assert_array_equal(found, expected)
    with use(client, "s3://shelf/training", max_tasks=4) as cluster:
        again = SubsetSVM(n_neighbors=10).fit(X, Y).coef_.toarray()
        assert len(cluster.receipts) == 0 < n_tasks, "nothing runs twice"
        cluster.spool.remove()
    np.testing.assert_array_equal(again, expected)


def test_a_file_is_read_in_pieces_while_connections_break(link, client, tmp_path, monkeypatch):
    monkeypatch.setattr("manylabel.corpus.chunks.CHUNK", 80_000)
    path = tmp_path / "books.jsonl.gz"
    write(load_catalogue("train"), path)
    expected = read(path).vectorized(CountVectorizer())
    link.cut_after, link.cuts_left = 20_000, 4
    with use(client, "s3://shelf/reading", max_tasks=4) as cluster:
        found = read_in_chunks(path, CountVectorizer())
        cluster.spool.remove()
    assert link.cuts_left < 4
    link.cut_after = None
    for name in ("X", "Y"):
        mine, theirs = getattr(found, name), getattr(expected, name)
        np.testing.assert_array_equal(mine.toarray(), theirs.toarray())
    assert found.label_names == expected.label_names


def test_a_server_that_is_away_is_one_sentence(link, monkeypatch):
    monkeypatch.setattr("manylabel.distributed.depot._TRIES", 2)
    depot = Depot("s3://shelf/away")
    link.cut()
    try:
        with pytest.raises(ClusterError, match=r"the spool s3://shelf/away does not respond"):
            depot.has("x")
    finally:
        link.mend()

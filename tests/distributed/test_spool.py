"""The folder that client and workers share."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy import sparse

from manylabel import LCIF, NeighborIndex, SubsetSVM
from manylabel.distributed import connect, use
from manylabel.distributed.spool import Spool, digest_of, keep
from manylabel.exceptions import ClusterError, ParameterError


def test_names_follow_from_content():
    matrix = sparse.csr_array([[1.0, 0.0], [2.0, 3.0]])
    assert digest_of(matrix) == digest_of(matrix.copy()) != digest_of(2 * matrix)
    assert digest_of(np.arange(3)) != digest_of(np.arange(3.0))
    assert digest_of(LCIF(k=3)) != digest_of(LCIF(k=4))
    fortran = np.asfortranarray(np.arange(6).reshape(2, 3))
    assert digest_of(fortran) == digest_of(np.ascontiguousarray(fortran))


def test_nothing_is_written_twice(tmp_path):
    keep([1, 2], tmp_path / "a")
    written = (tmp_path / "a" / "model.json").stat().st_mtime_ns
    keep([1, 2], tmp_path / "a")
    assert (tmp_path / "a" / "model.json").stat().st_mtime_ns == written
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_damaged_result_is_as_good_as_none(tmp_path):
    spool = Spool(tmp_path, lasting=True)
    path = spool.path_of_result("job", "0-5")
    keep(np.arange(5), path)
    (array,) = path.glob("data-*/*.npy")
    array.write_bytes(array.read_bytes()[:-8])
    assert spool.result(path) is None
    assert spool.finished("job") == set()


def test_a_later_run_goes_on_from_what_is_finished(client, problem, spool):
    X, Y = problem
    model = SubsetSVM(n_neighbors=10)
    with use(client, spool, max_tasks=6) as cluster:
        first = model.fit(X, Y).coef_
        n_tasks = len(cluster.receipts)
    removed = next(path for path in (spool / "results").glob("*/0-*"))
    shutil.rmtree(removed)
    with use(client, spool, max_tasks=6) as cluster:
        again = model.fit(X, Y).coef_
        assert len(cluster.receipts) == 1 < n_tasks
    np.testing.assert_array_equal(first.toarray(), again.toarray())


def test_a_temporary_spool_leaves_nothing_behind(client, problem):
    with use(client) as cluster:
        folder = cluster.spool.folder
        index = NeighborIndex(problem[0])
        index.search_self(5)
        assert not list((folder / "results").glob("*/*"))
        # The index is all that is kept, for the next search.
        assert len(list((folder / "inputs").iterdir())) == 1
    assert not folder.exists()


def test_a_worker_that_does_not_see_the_folder_is_refused(client, spool, monkeypatch):
    monkeypatch.setattr("manylabel.distributed.connecting.report", _blind)
    with (
        pytest.raises(ClusterError, match=r"cannot access the folder .*spool; give a `spool` that"),
        use(client, spool),
    ):
        pass


def _blind(probe):
    from manylabel import __version__

    return __version__, None


def test_errors_of_tasks_are_those_of_the_work(client, problem):
    index = NeighborIndex(problem[0])
    with use(client), pytest.raises(ParameterError, match="`strategy` must be one of"):
        index.search_self(5, strategy="magic")


@pytest.mark.parametrize("address", ["local", "local:0", "host:8786"])
def test_addresses_are_checked(address):
    with pytest.raises(ParameterError, match="must look like tcp://host:8786 or local:4"):
        connect(address).__enter__()

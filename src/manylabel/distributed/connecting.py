"""Connect to a cluster, from a client or an address."""

from __future__ import annotations

import importlib.util
import logging
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from manylabel import __version__
from manylabel.distributed.cluster import Cluster
from manylabel.distributed.depot import depot_at
from manylabel.distributed.spool import Spool
from manylabel.distributed.travelling import by_value, call_by_name, report
from manylabel.exceptions import ClusterError, MissingExtraError, ParameterError
from manylabel.parallel import running_at
from manylabel.validation import check_whole

__all__ = ["connect", "use"]

_PROBE = "seen"
#: How long to wait for a scheduler.
_TIMEOUT = "10s"


@contextmanager
def use(
    client: Any,
    spool: str | Path | None = None,
    *,
    shard_rows: int = 1 << 20,
    max_tasks: int = 256,
    patience: float = 60.0,
    worker_cache: int = 8 << 30,
) -> Iterator[Cluster]:
    """Run everything in the context on the workers of a Dask cluster, with the same results.

    Parameters
    ----------
    client : distributed.Client
    spool : path or str, optional
        Where this process and all workers exchange objects: a folder that all can access under
        this name, an address of fsspec such as ``s3://bucket/folder``, or ``dask`` if they share
        nothing and objects go through Dask itself. Results of finished tasks stay there, so that a
        failed run can resume; remove it when you no longer need it. With ``dask`` nothing stays;
        with ``dask:FOLDER`` results stay in a folder of this process. By default a temporary
        folder, removed at the end, for clusters on one machine.
    shard_rows : int
        An index with more rows is divided into shards of this size.
    max_tasks : int
        Maximum tasks per job. Choose several times the number of cores, so that no worker waits
        long for another. If you change it, finished tasks cannot be reused.
    patience : float
        Give up after this many seconds without any worker.
    worker_cache : int
        Maximum bytes of fetched objects on each worker's disk, if it cannot access the spool as a
        folder.

    Yields
    ------
    Cluster

    Raises
    ------
    ClusterError
        If there is no worker, or a worker has another version of manylabel or cannot access the
        spool.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with use(Client("tcp://scheduler:8786"), spool="/shared/spool"):  # doctest: +SKIP
    ...     model = LCIF().fit(X, Y)
    """
    check_whole("shard_rows", shard_rows, 1)
    check_whole("max_tasks", max_tasks, 1)
    check_whole("worker_cache", worker_cache, 0)
    with ExitStack() as stack:
        cluster = Cluster(
            client,
            _spool_at(None if spool is None else str(spool), stack),
            shard_rows=shard_rows,
            max_tasks=max_tasks,
            patience=patience,
            worker_cache=worker_cache,
        )
        _check_workers(cluster)
        with running_at(cluster):
            yield cluster


def _spool_at(given: str | None, stack: ExitStack) -> Spool:
    """The spool of an address or a folder."""

    def temporary() -> Path:
        return Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="manylabel-", ignore_cleanup_errors=True)
            )
        )

    if given is None:
        return Spool(temporary(), lasting=False)
    if given == "dask":
        return Spool(temporary(), lasting=False, handed=True)
    if given.startswith("dask:"):
        return Spool(Path(given.removeprefix("dask:")), lasting=True, handed=True)
    if "://" in given:
        return Spool(temporary(), lasting=True, depot=depot_at(given))
    return Spool(Path(given), lasting=True)


@contextmanager
def connect(address: str, spool: str | Path | None = None, **options: Any) -> Iterator[Cluster]:
    """Like `use`, with the address of a scheduler.

    Parameters
    ----------
    address : str
        The address of a scheduler, such as ``tcp://host:8786``, or ``local:4`` for a cluster of 4
        processes on this machine.
    spool, **options
        As for :func:`use`.
    """
    if importlib.util.find_spec("distributed") is None:
        raise MissingExtraError("Running on a cluster", "distributed", "dask")
    from distributed import Client, LocalCluster

    local = re.fullmatch(r"local:([1-9][0-9]*)", address)
    if local is None and "://" not in address:
        raise ParameterError(
            f"the address of a cluster must look like tcp://host:8786 or local:4; got {address!r}."
        )
    with ExitStack() as stack:
        target: Any = address
        if local is not None:
            target = stack.enter_context(
                LocalCluster(
                    n_workers=int(local[1]),
                    threads_per_worker=1,
                    # Memory-mapped files would count, though the system can drop them.
                    memory_limit=0,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            )
        try:
            client = stack.enter_context(Client(target, timeout=_TIMEOUT, set_as_default=False))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {address} ({error}); start one, or check the address."
            ) from None
        except TypeError as error:  # what Dask raises without certificates
            raise ClusterError(
                f"the scheduler at {address} requires an encrypted connection; set this client's "
                "certificates in Dask's configuration, distributed.comm.tls."
            ) from error
        yield stack.enter_context(use(client, spool, **options))


def _check_workers(cluster: Cluster) -> None:
    """Refuse workers that have another version or cannot access the spool."""
    from distributed import CancelledError

    client, spool = cluster.client, cluster.spool
    try:
        client.wait_for_workers(1, timeout=cluster.patience)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {cluster.address} has no workers; start some."
        ) from None
    except (CancelledError, OSError):
        raise cluster.lost() from None
    token = secrets.token_hex(8)
    probe = spool.folder / _PROBE if cluster.sees_files else None
    if probe is not None:
        probe.write_text(token, encoding="utf-8")
    try:
        answers = client.run(by_value(report), probe, on_error="return")
    except (CancelledError, OSError):
        raise cluster.lost() from None
    for worker, answer in answers.items():
        if isinstance(answer, OSError):
            continue  # the worker died while it was asked
        if isinstance(answer, Exception):
            raise answer
        version, seen = answer
        if version is None:
            raise ClusterError(
                f"manylabel is not installed on the worker {worker}; install {__version__} there."
            )
        if version != __version__:
            raise ClusterError(
                f"the worker {worker} has manylabel {version}, but this process has {__version__}; "
                "install the same version everywhere."
            )
        if probe is not None and seen != token:
            raise ClusterError(
                f"the worker {worker} cannot access the folder {spool.folder}; give a `spool` that "
                "this process and all workers share, such as s3://bucket/folder, or 'dask' if "
                "they share nothing."
            )
    if spool.depot is not None:
        _check_depot(cluster, token)


def _check_depot(cluster: Cluster, token: str) -> None:
    """Refuse workers that cannot reach the depot."""
    depot, folder = cluster.spool.depot, cluster.spool.folder / f"{_PROBE}-{token}"
    assert depot is not None
    folder.mkdir()
    (folder / _PROBE).write_text(token, encoding="utf-8")
    depot.put(folder.name, folder)
    answers = cluster.client.run(
        by_value(call_by_name),
        "manylabel.distributed.depot",
        "peek",
        depot.address,
        folder.name,
        on_error="return",
    )
    depot.remove(folder.name)
    for worker, seen in answers.items():
        if seen is not True:
            why = f" ({seen})" if isinstance(seen, Exception) else ""
            raise ClusterError(
                f"the worker {worker} cannot access the spool {depot.address}{why}; give a `spool` "
                "that this process and all workers can access with their own credentials."
            )

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
from manylabel.distributed.spool import Spool
from manylabel.distributed.travelling import by_value, report
from manylabel.exceptions import ClusterError, MissingExtraError, ParameterError
from manylabel.parallel import running_at
from manylabel.validation import check_whole

__all__ = ["connect", "use"]

_PROBE = "seen"


@contextmanager
def use(
    client: Any,
    spool: str | Path | None = None,
    *,
    shard_rows: int = 1 << 20,
    max_tasks: int = 256,
    patience: float = 60.0,
) -> Iterator[Cluster]:
    """Run everything in the context on the workers of a Dask cluster, with the same results.

    Parameters
    ----------
    client : distributed.Client
    spool : path, optional
        A folder that this process and all workers see under this name. Results of finished tasks
        stay there, and a run after a fault continues from them; remove the folder when you no
        longer need it. By default a temporary folder, removed at the end, for clusters on one
        machine.
    shard_rows : int
        An index with more rows is divided into shards of this size.
    max_tasks : int
        Maximum tasks per piece of work. Choose several times the number of cores, so that no
        worker waits long for another. After a change, finished tasks cannot be reused.
    patience : float
        Give up after this many seconds without any worker.

    Yields
    ------
    Cluster

    Raises
    ------
    ClusterError
        If there is no worker, or a worker has another version of manylabel or does not see the
        folder.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with use(Client("tcp://scheduler:8786"), spool="/shared/spool"):  # doctest: +SKIP
    ...     model = LCIF().fit(X, Y)
    """
    check_whole("shard_rows", shard_rows, 1)
    check_whole("max_tasks", max_tasks, 1)
    with ExitStack() as stack:
        if spool is None:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="manylabel-", ignore_cleanup_errors=True)
            )
            place = Spool(Path(folder), lasting=False)
        else:
            place = Spool(Path(spool), lasting=True)
        cluster = Cluster(
            client, place, shard_rows=shard_rows, max_tasks=max_tasks, patience=patience
        )
        _check_workers(cluster)
        with running_at(cluster):
            yield cluster


@contextmanager
def connect(address: str, spool: str | Path | None = None, **options: Any) -> Iterator[Cluster]:
    """Like `use`, with the address of a scheduler.

    Parameters
    ----------
    address : str
        Of a scheduler, such as ``tcp://host:8786``, or ``local:4`` for a cluster of 4 processes
        on this machine.
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
                    # Memory-mapped files would count towards the limit, though they cost nothing.
                    memory_limit=0,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            )
        try:
            client = stack.enter_context(Client(target, timeout="10s", set_as_default=False))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no scheduler answers at {address} ({error}); start one, or check the address."
            ) from None
        yield stack.enter_context(use(client, spool, **options))


def _check_workers(cluster: Cluster) -> None:
    """Refuse workers that have another version, or do not see the spool."""
    client, folder = cluster.client, cluster.spool.folder
    try:
        client.wait_for_workers(1, timeout=cluster.patience)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {cluster.address} has no workers; start some."
        ) from None
    token = secrets.token_hex(8)
    probe = folder / _PROBE
    probe.write_text(token, encoding="utf-8")
    for worker, (version, seen) in client.run(by_value(report), probe).items():
        if version is None:
            raise ClusterError(
                f"manylabel is not installed on the worker {worker}; install {__version__} there."
            )
        if version != __version__:
            raise ClusterError(
                f"the worker {worker} has manylabel {version}, and this is {__version__}; install "
                "the same version everywhere."
            )
        if seen != token:
            raise ClusterError(
                f"the worker {worker} does not see the folder {folder}; give a `spool` that this "
                "process and all workers share."
            )

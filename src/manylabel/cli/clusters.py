"""Run a command on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel.cli.output import note, print_error, readable_size

if TYPE_CHECKING:
    from manylabel.corpus import Corpus
    from manylabel.distributed import Cluster
    from manylabel.distributed.bulk import AnsweredBatch
    from manylabel.tagger import Suggestions, Tagger

__all__ = ["Manifest", "cluster_at", "suggestions_of"]

#: Maximum failed documents to name; the rest are counted.
_SHOWN = 20


@contextmanager
def cluster_at(
    address: str | None, spool: str | None, output: str, quiet: bool
) -> Iterator[Cluster | None]:
    """Run everything inside on the cluster at an address; yields None without an address.

    Parameters
    ----------
    address : str, optional
        As `manylabel.distributed.connect` takes it.
    spool : str, optional
        As `manylabel.distributed.use` takes it. By default a folder beside the output, from which a
        failed run can resume, and which is removed on success; also with ``dask``.
    output : str
        The file that the command writes; with ``-``, standard output, a failed run cannot resume.
    quiet : bool
    """
    if address is None:
        yield None
        return
    from manylabel.distributed import connect

    beside = None if output == "-" else f"{output}.batches"
    own = spool is None or spool == "dask"
    if spool == "dask" and beside is not None:
        spool = f"dask:{beside}"
    with connect(address, spool or beside) as cluster:
        watch = cluster.client.dashboard_link
        seen = f" Watch it at {watch}." if watch else ""
        note(f"Running {cluster.n_threads} tasks at a time on {cluster.address}.{seen}", quiet)
        yield cluster
        _note_memory(cluster, quiet)
    if own:
        cluster.spool.remove()


def _note_memory(cluster: Cluster, quiet: bool) -> None:
    peaks: dict[str, int] = {}
    for receipt in cluster.receipts:
        if receipt.peak_memory is not None:
            peaks[receipt.worker] = max(receipt.peak_memory, peaks.get(receipt.worker, 0))
    if peaks:
        most = readable_size(max(peaks.values()))
        note(f"Peak memory of a worker: {most}.", quiet)


class Manifest:
    """Records what was done with the batches of a file.

    Parameters
    ----------
    path : str
        The file that the batches make up; ``-`` has no manifest.
    about : dict
        Facts about the whole run.
    """

    def __init__(self, path: str, about: dict[str, Any]) -> None:
        self._path, self._about = path, about
        self._batches: list[dict[str, Any]] = []
        self.n_failed = 0

    def add(self, batch: AnsweredBatch) -> None:
        """Record a finished batch."""
        self._batches.append(batch.to_json())
        for failure in batch.failures:
            self.n_failed += 1
            if self.n_failed <= _SHOWN:
                print_error(f"document {failure.id} failed ({failure.reason}).")
            elif self.n_failed == _SHOWN + 1:
                print_error("more documents failed; the manifest lists them.")

    def write(self) -> None:
        """Write the manifest beside the file."""
        import json

        from manylabel.corpus.files import atomic_write

        if self._path != "-":
            whole = self._about | {"failed": self.n_failed, "batches": self._batches}
            with atomic_write(Path(f"{self._path}.manifest.json")) as file:
                file.write(json.dumps(whole, indent=1, ensure_ascii=False).encode() + b"\n")


def suggestions_of(
    cluster: Cluster | None,
    tagger: Tagger,
    batches: Iterable[Corpus],
    choice: tuple[Any, ...],
    manifest: Manifest,
) -> Iterator[list[Suggestions]]:
    """Suggest labels for batch after batch, here or on a cluster."""
    if cluster is None:
        for batch in batches:
            yield tagger.suggest(batch, *choice)
        return
    from manylabel.distributed.bulk import suggest_batches

    for answered in suggest_batches(cluster, tagger, batches, *choice):
        manifest.add(answered)
        yield answered.suggestions

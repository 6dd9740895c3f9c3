"""What the client does on the first of three machines; a test reads what it found.

python across.py JOB SCHEDULER SPOOL FOLDER
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from dask_processes import PATIENCE, Reacting
from distributed import Client

from manylabel import NeighborIndex, SubsetSVM, Tagger
from manylabel.corpus import Corpus, load_catalogue, write
from manylabel.distributed import use
from manylabel.distributed.bulk import suggest_batches
from manylabel.exceptions import ClusterError


def _hashed(*arrays) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def search(cluster) -> str:
    books = load_catalogue("train").vectorized()
    found = NeighborIndex(books.X).search_self(5)
    return _hashed(found.indices, found.similarities)


def training(cluster) -> str:
    books = load_catalogue("train").vectorized()
    coef = SubsetSVM(n_neighbors=10).fit(books.X, books.Y).coef_
    return _hashed(coef.indptr, coef.indices, coef.data)


def prediction(cluster) -> str:
    books, others = load_catalogue("train"), load_catalogue("test")
    tagger = Tagger("lcif", parameters={"k": 5}).fit(books)
    texts = [text for text in others.texts for _ in range(2)]
    parts = [Corpus.from_texts(texts[i : i + 20], [[]] * 20) for i in range(0, 240, 20)]
    if cluster is None:
        found = [tagger.suggest(part) for part in parts]
    else:
        answered = list(suggest_batches(cluster, tagger, parts))
        assert [part.number for part in answered] == list(range(12)), "nothing twice"
        found = [part.suggestions for part in answered]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def reading(cluster) -> str:
    """Workers count a compressed file that only the client has."""
    # The same name in each run, so that a run that goes on has the same tasks.
    path = Path(tempfile.gettempdir()) / f"manylabel-across-{os.getuid()}.jsonl.gz"
    write(load_catalogue("train"), path)
    tagger = Tagger("lcif", parameters={"k": 5}).fit(path)
    path.unlink(missing_ok=True)
    found = tagger.suggest(load_catalogue("test").texts)
    return hashlib.sha256(repr(found).encode()).hexdigest()


JOBS = {job.__name__: job for job in (search, training, prediction, reading)}


def small_tasks() -> None:
    """Enough tasks that something can happen between two of them."""
    import manylabel.base
    import manylabel.corpus.chunks
    import manylabel.linear.training
    import manylabel.neighbors.index

    manylabel.corpus.chunks.CHUNK = 30_000
    manylabel.neighbors.index.TASK = 30
    manylabel.linear.training.BLOCK = 4
    manylabel.base.BLOCK = 70


def main(job: str, address: str, spool: str, folder: Path) -> None:
    """Run a job; say when the third result is there, and wait until told to go on."""
    small_tasks()
    told: dict[str, object] = {}

    def pause() -> None:
        (folder / "reached").touch()
        while not (folder / "go-on").exists():
            time.sleep(0.05)

    try:
        with (
            Client(address, timeout=PATIENCE, set_as_default=False) as client,
            use(client, spool, patience=PATIENCE, max_tasks=16) as cluster,
        ):
            cluster.receipts = Reacting({3}, pause)
            told["found"] = JOBS[job](cluster)
            told["workers"] = sorted({receipt.worker for receipt in cluster.receipts})
    except ClusterError as error:
        told["error"] = str(error)
    told["tasks"] = len(cluster.receipts)
    (folder / "told.tmp").write_text(json.dumps(told))
    (folder / "told.tmp").rename(folder / "told.json")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))

"""The same results on a Dask cluster: pure tasks over immutable files in a shared folder."""

from manylabel.corpus.chunks import read_in_chunks
from manylabel.distributed.cluster import Cluster
from manylabel.distributed.connecting import connect, use

__all__ = ["Cluster", "connect", "read_in_chunks", "use"]

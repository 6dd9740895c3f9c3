"""The same results on a Dask cluster: pure tasks over immutable files in a shared folder."""

from manylabel.corpus.parts import read_parts
from manylabel.distributed.cluster import Cluster
from manylabel.distributed.connecting import connect, use

__all__ = ["Cluster", "connect", "read_parts", "use"]

"""The same answers on a Dask cluster: pure tasks over immutable files in a shared folder."""

from manylabel.distributed.cluster import Cluster
from manylabel.distributed.connecting import connect, use
from manylabel.distributed.reading import read_parts

__all__ = ["Cluster", "connect", "read_parts", "use"]

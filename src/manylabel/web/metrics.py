"""Metrics of the server, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

__all__ = ["CONTENT_TYPE", "Metrics"]

#: Upper bounds of the latency buckets, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Counts requests, their latencies, and documents.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.answered("GET", "/healthz", 200, 0.002)
    >>> "manylabel_requests_total" in metrics.text({})
    True
    """

    def __init__(self) -> None:
        # Not the global registry: one process may have several applications.
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "manylabel_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._latencies = Histogram(
            "manylabel_request_seconds",
            "Time from the first byte of a request to its answer.",
            ["route"],
            buckets=BOUNDS,
            registry=registry,
        )
        self._learned, self._forgotten = (
            Counter(
                f"manylabel_documents_{what}", f"Documents {what}.", ["model"], registry=registry
            )
            for what in ("learned", "forgotten")
        )

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request; ``route`` is the pattern, never the path itself."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._latencies.labels(route).observe(seconds)

    def changed(self, model: str, learned: int = 0, forgotten: int = 0) -> None:
        """Count learned and forgotten documents."""
        self._learned.labels(model).inc(learned)
        self._forgotten.labels(model).inc(forgotten)

    def text(self, sizes: Mapping[str, tuple[int, int]]) -> str:
        """All metrics as text; ``sizes`` are the numbers of documents and labels of each model."""
        now = CollectorRegistry()
        now.register(_Sizes(sizes))
        return (generate_latest(self._registry) + generate_latest(now)).decode()


class _Sizes:
    """The documents and labels of each model, as gauges."""

    def __init__(self, sizes: Mapping[str, tuple[int, int]]) -> None:
        self._sizes = sizes

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """One gauge for documents and one for labels."""
        for position, thing in enumerate(("documents", "labels")):
            gauge = GaugeMetricFamily(
                f"manylabel_{thing}", f"The {thing} that a model knows.", labels=["model"]
            )
            for name, size in self._sizes.items():
                gauge.add_metric([name], size[position])
            yield gauge

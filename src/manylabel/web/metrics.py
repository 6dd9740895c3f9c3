"""What the server did, counted, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Upper ends of the classes of latencies, in seconds.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

Labels = tuple[tuple[str, str], ...]


@dataclass
class _Latencies:
    """Requests by their time."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0


class Metrics:
    """Counters of requests and documents.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.answered("GET", "/healthz", 200, 0.002)
    >>> "manylabel_requests_total" in metrics.text({})
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[Labels] = Counter()
        self._latencies: defaultdict[Labels, _Latencies] = defaultdict(_Latencies)
        self._learned: Counter[Labels] = Counter()
        self._forgotten: Counter[Labels] = Counter()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered; ``route`` is the pattern, never what a request contained."""
        method = method if method in _METHODS else "other"
        with self._lock:
            self._requests[("method", method), ("route", route), ("status", str(status))] += 1
            latencies = self._latencies[("route", route),]
            latencies.counts[bisect_left(BOUNDS, seconds)] += 1
            latencies.seconds += seconds

    def changed(self, model: str, learned: int = 0, forgotten: int = 0) -> None:
        """Documents were learned or forgotten."""
        with self._lock:
            self._learned[("model", model),] += learned
            self._forgotten[("model", model),] += forgotten

    def text(self, sizes: Mapping[str, tuple[int, int]]) -> str:
        """Everything; ``sizes`` has the documents and labels that each model knows now."""
        with self._lock:
            pieces = [
                _family("requests_total", "counter", "Requests answered.", self._requests.items()),
                "".join(self._histogram()),
                _family(
                    "documents_learned_total",
                    "counter",
                    "Documents learned.",
                    self._learned.items(),
                ),
                _family(
                    "documents_forgotten_total",
                    "counter",
                    "Documents forgotten.",
                    self._forgotten.items(),
                ),
            ]
        for place, thing in enumerate(("documents", "labels")):
            values = [((("model", name),), size[place]) for name, size in sizes.items()]
            pieces.append(_family(thing, "gauge", f"The {thing} that a model knows.", values))
        return "".join(pieces)

    def _histogram(self) -> Iterator[str]:
        name = "request_seconds"
        yield _head(name, "histogram", "Time from the first byte of a request to its answer.")
        for labels, latencies in sorted(self._latencies.items()):
            total = 0
            for bound, count in zip((*BOUNDS, "+Inf"), latencies.counts, strict=True):
                total += count
                yield _line(f"{name}_bucket", (*labels, ("le", str(bound))), total)
            yield _line(f"{name}_sum", labels, latencies.seconds)
            yield _line(f"{name}_count", labels, total)


def _family(name: str, kind: str, meaning: str, values: Iterable[tuple[Labels, float]]) -> str:
    lines = (_line(name, labels, value) for labels, value in sorted(values))
    return _head(name, kind, meaning) + "".join(lines)


def _head(name: str, kind: str, meaning: str) -> str:
    return f"# HELP manylabel_{name} {meaning}\n# TYPE manylabel_{name} {kind}\n"


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{label}="{_escaped(content)}"' for label, content in labels)
    return f"manylabel_{name}{{{inside}}} {value}\n"


def _escaped(content: str) -> str:
    return content.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

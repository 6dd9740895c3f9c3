"""Every scorer and source of an ensemble; this list is the only place that names them.

To add one, write its class in a new file and add a line here, or call :func:`register`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from manylabel.exceptions import ParameterError
from manylabel.scoring import CandidateSource, Scorer
from manylabel.store.classes import add_location

__all__ = [
    "EFFORTS",
    "SCORERS",
    "SOURCES",
    "check_effort",
    "is_within",
    "make_scorers",
    "make_sources",
    "register",
    "unregister",
]

#: How much time training may take, from the least to the most; each scorer says which it needs.
EFFORTS = ("quick", "normal", "best")

#: Name -> "module:class", or a class. Curves and tables keep this order.
SCORERS: dict[str, str | type[Scorer]] = {
    "neighbours": "manylabel.neighbors.scorers:NeighborVotes",
    "nearest": "manylabel.neighbors.scorers:NearestVotes",
    "words": "manylabel.neighbors.scorers:WordVotes",
    "dense": "manylabel.neighbors.dense_scorer:DenseVotes",
    "linear": "manylabel.linear.scorer:LinearScorer",
    "phrases": "manylabel.linear.views:PhraseScorer",
    "opening": "manylabel.linear.views:OpeningScorer",
    "regression": "manylabel.regression.scorers:RegressionScorer",
    "profile": "manylabel.regression.scorers:ProfileScorer",
    "network": "manylabel.network.scorer:NetworkScorer",
    "vectors": "manylabel.vectors.scorer:VectorScorer",
    "topics": "manylabel.topics.scorer:TopicScorer",
    "trees": "manylabel.trees.scorer:TreeScorer",
    "names": "manylabel.vocabulary.scorer:NameScorer",
}
#: Sources of candidates in addition to the neighbours, which every ensemble has.
SOURCES: dict[str, str | type[CandidateSource]] = {
    "names": "manylabel.vocabulary.scorer:NameSource",
    "vectors": "manylabel.vectors.scorer:VectorSource",
    "dense": "manylabel.neighbors.dense_scorer:DenseSource",
    "all": "manylabel.scoring.candidates:AllLabels",
}

add_location("manylabel.vocabulary.name_words:Rarity")
add_location("manylabel.vocabulary.name_counts:NameCounts")
# Model folders contain objects of these classes.
for _location in (*SCORERS.values(), *SOURCES.values()):
    if isinstance(_location, str):
        add_location(_location)


def register(cls: type[Scorer] | type[CandidateSource]) -> Any:
    """Let ensembles use your own scorer or source; can be used as a decorator."""
    from manylabel import store

    table: dict[str, Any] = SCORERS if issubclass(cls, Scorer) else SOURCES
    table[cls.name] = cls
    store.register(cls, cls.__name__)
    return cls


def unregister(cls: type[Scorer] | type[CandidateSource]) -> None:
    """Undo :func:`register`."""
    from manylabel import store

    for table in (SCORERS, SOURCES):
        if table.get(cls.name) is cls:
            del table[cls.name]  # type: ignore[attr-defined]
    store.unregister(cls)


def make_scorers(names: str | Iterable[str]) -> list[Scorer]:
    """Unfitted scorers by name; "auto" for all."""
    return [_named(name, SCORERS)() for name in _known(names, SCORERS, "scorers")]


def make_sources(names: str | Iterable[str]) -> list[CandidateSource]:
    """Sources by name; "auto" for all."""
    return [_named(name, SOURCES)() for name in _known(names, SOURCES, "sources")]


def _known(names: str | Iterable[str], table: dict[str, Any], parameter: str) -> list[str]:
    """The names, checked and in the order of the table."""
    if isinstance(names, str):
        if names == "auto":
            return list(table)
        raise ParameterError(f"`{parameter}` must be 'auto' or a list of names; got {names!r}.")
    wanted = list(names)
    for name in wanted:
        if name not in table:
            near = get_close_matches(str(name), table, n=2, cutoff=0.6)
            raise ParameterError(
                f"unknown name {name!r} in `{parameter}`; "
                + (f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(table)}.")
            )
    return [name for name in table if name in wanted]


def _named(name: str, table: dict[str, Any]) -> Any:
    """The class with a name."""
    entry = table[name]
    if not isinstance(entry, str):
        return entry
    module, _, own_name = entry.partition(":")
    return getattr(import_module(module), own_name)


def check_effort(effort: Any) -> None:
    """Refuse an unknown effort."""
    if effort in EFFORTS:
        return
    near = get_close_matches(str(effort), EFFORTS, n=1)
    hint = f", did you mean {near[0]}?" if near else "."
    raise ParameterError(f"`effort` must be quick, normal or best; got {effort!r}{hint}")


def is_within(needed: str, effort: str) -> bool:
    """Whether an effort is at least the needed one."""
    return EFFORTS.index(needed) <= EFFORTS.index(effort)

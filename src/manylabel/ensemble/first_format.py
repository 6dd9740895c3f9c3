"""Load ensembles from the first format of the model folder."""

from __future__ import annotations

from typing import Any

import numpy as np

from manylabel.ensemble.curves import Combination
from manylabel.ensemble.ensemble import Ensemble
from manylabel.ensemble.report import Report
from manylabel.linear.first_format import linear_scorer
from manylabel.neighbors.scorers import NearestVotes, NeighborVotes, WordVotes
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import Scorer
from manylabel.store import restored
from manylabel.topics.scorer import TopicScorer
from manylabel.trees.scorer import TreeScorer

__all__ = ["combination", "ensemble", "report"]

#: Models of words were updated once one document in this many had changed.
_LAG = 1000


def combination(state: dict[str, Any]) -> Combination:
    """In the first format, labels without documents shared a group with those that have one."""
    for name in ("offsets", "factors"):
        state[name] = np.concatenate([state[name][:1], state[name]])
    return Combination(**state)


def report(state: dict[str, Any]) -> Report:
    """In the first format, the report had another name."""
    return Report(**state)


def ensemble(state: dict[str, Any]) -> Ensemble:
    """In the first format, each scorer was an attribute of the model, with its own parameters."""
    is_wanted = {name: state.pop(name, "auto") for name in ("words", "topics", "trees")}
    neighborhood, linear = state.pop("neighborhood_", None), state.pop("linear_", None)
    topics, trees = state.pop("topics_", None), state.pop("trees_", None)
    if "learned_" in state:
        state["report_"] = state.pop("learned_")
    model = restored(Ensemble, state)
    left_out = [name for name, wanted in is_wanted.items() if wanted is False]
    if left_out:
        all_names = ("neighbours", "nearest", "words", "linear", "topics", "trees")
        model.scorers = [name for name in all_names if name not in left_out]
    if neighborhood is None:
        return model
    model.source_, model.sources_ = _source(neighborhood.state), []
    known: list[Scorer] = [NeighborVotes(), NearestVotes()]
    if model.source_.features is not None:
        known.append(WordVotes())
    known.append(linear_scorer(linear.state["model"]))
    if topics is not None:
        known.append(TopicScorer(topics.state["word_labels"]))
    if trees is not None:
        tree_scorer = TreeScorer()
        tree_scorer.forests = trees.state["forests"]
        known.append(tree_scorer)
    used = {*model.combination_.curves, *model.lazy_combination_.curves}
    model.scorers_ = {scorer.name: scorer for scorer in known if scorer.name in used}
    model.known_labels_ = np.isfinite(linear.state["model"].intercept)
    return model


def _source(neighborhood: dict[str, Any]) -> NeighborSource:
    """In the first format, a neighbourhood proposed the candidates."""
    source = NeighborSource(
        neighborhood["index"],
        neighborhood["Y"],
        k=neighborhood["k"],
        near=neighborhood["near"],
        alpha=neighborhood["alpha"],
        weight=0.5,
        features=neighborhood["features"],
        top_words=neighborhood["n_candidates"],
        limit=neighborhood["n_candidates"],
        lag=_LAG,
        dtype=np.float32,
    )
    for rows, Y, sign in neighborhood["_pending"]:
        source.features.update(rows, Y, sign)  # type: ignore[union-attr]
    return source

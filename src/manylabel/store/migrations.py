"""Migrate older manifests, one version at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manylabel.store.classes import CONVERTERS, VANISHED

__all__ = ["FORMAT_VERSION", "MIGRATIONS", "migrate"]

#: The version that `save` writes. Raise it when an older library could not read the result.
FORMAT_VERSION = 2

#: The first format stored a class under the full name it had at the time. A class that has changed
#: since, or no longer exists, keeps that name and is in ``CONVERTERS`` or ``VANISHED``.
_FIRST_NAMES = {
    "manylabel.ensemble.curves.Combination": "Combination",
    "manylabel.ensemble.curves.Curve": "Curve",
    "manylabel.ensemble.ensemble.Ensemble": "Ensemble",
    "manylabel.kernels.index.Postings": "IndexPostings",
    "manylabel.kernels.index.Rows": "IndexRows",
    "manylabel.kernels.votes.Csr": "CsrRows",
    "manylabel.linear.one_vs_rest.OneVsRestSVM": "OneVsRestSVM",
    "manylabel.linear.subset.SubsetSVM": "SubsetSVM",
    "manylabel.linear.training.LinearModel": "LinearModel",
    "manylabel.metrics.calibration.Calibration": "Calibration",
    "manylabel.neighbors.brknn.BRkNN": "BRkNN",
    "manylabel.neighbors.brknn.MeanSize": "MeanSize",
    "manylabel.neighbors.entropy.EntropySelector": "EntropySelector",
    "manylabel.neighbors.features.FeatureSimilarity": "FeatureSimilarity",
    "manylabel.neighbors.iblr.IBLR": "IBLR",
    "manylabel.neighbors.index.NeighborIndex": "NeighborIndex",
    "manylabel.neighbors.index.Neighbors": "Neighbors",
    "manylabel.neighbors.index._Tail": "IndexTail",
    "manylabel.neighbors.lcif.FeatureKNN": "FeatureKNN",
    "manylabel.neighbors.lcif.InstanceKNN": "InstanceKNN",
    "manylabel.neighbors.lcif.LCIF": "LCIF",
    "manylabel.neighbors.mlknn.MLkNN": "MLkNN",
    "manylabel.neighbors.part.Part": "IndexShard",
    "manylabel.selection.NeighborSearchCV": "Tuner",
    "manylabel.store.strings.StringArray": "StringArray",
    "manylabel.tagger.documents.Documents": "TaggerDocuments",
    "manylabel.tagger.labels.Labels": "TaggerLabels",
    "manylabel.tagger.tagger.Tagger": "Tagger",
    "manylabel.text.vectorizer.CountVectorizer": "CountVectorizer",
    "manylabel.text.weighting.Weighting": "Weighting",
    "manylabel.text.words.WordRules": "WordRules",
    "manylabel.thresholds.best.Best": "Best",
    "manylabel.thresholds.matching.Cardinality": "Cardinality",
    "manylabel.thresholds.matching.PerLabel": "PerLabel",
    "manylabel.thresholds.matching.Proportional": "Proportional",
    "manylabel.thresholds.simple.Fixed": "Fixed",
    "manylabel.thresholds.simple.TopK": "TopK",
    "manylabel.topics.dependency.DependencyLDA": "DependencyLDA",
    "manylabel.topics.flat.FlatLDA": "FlatLDA",
    "manylabel.topics.flat.PriorLDA": "PriorLDA",
    "manylabel.topics.label_topics.LabelTopics": "LabelTopics",
    "manylabel.topics.lda.LDA": "LDA",
    "manylabel.topics.lda.TopicChain": "TopicChain",
    "manylabel.topics.subset.SubsetLLDA": "SubsetLLDA",
    "manylabel.topics.training.LabelledTraining": "LabelledTraining",
    "manylabel.topics.word_labels.WordLabels": "WordLabels",
    "manylabel.trees.fastxml.FastXML": "FastXML",
    "manylabel.trees.forest.Forest": "Forest",
    "manylabel.trees.pfastrexml.PfastreXML": "PfastreXML",
    "sklearn.pipeline.Pipeline": "Pipeline",
}


def _with_registered_names(manifest: dict[str, Any]) -> dict[str, Any]:
    """From the first format to the second: classes have registered names, without modules."""
    nodes = [manifest["model"]]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes.extend(node)
        elif isinstance(node, dict):
            nodes.extend(node.values())
            thing = node.get("object")
            if isinstance(thing, dict) and isinstance(thing.get("class"), str):
                name = thing["class"]
                if name not in CONVERTERS and name not in VANISHED:
                    thing["class"] = _FIRST_NAMES.get(name, name)
    return manifest | {"class": _FIRST_NAMES.get(manifest["class"], manifest["class"])}


#: Version -> the function that turns a manifest of this version into one of the next.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _with_registered_names}


def migrate(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest in the current format."""
    while manifest["version"] < FORMAT_VERSION:
        version = manifest["version"]
        manifest = MIGRATIONS[version](manifest) | {"version": version + 1}
    return manifest

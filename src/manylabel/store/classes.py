"""The classes that a model folder may contain, and the names under which they are stored.

The name of a class in model folders never changes, even if the class moves to another module.
Loading a folder imports only modules in the tables below, and only those that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from manylabel.exceptions import InputError

__all__ = [
    "CLASSES",
    "CONVERTERS",
    "VANISHED",
    "add_location",
    "class_named",
    "converter_of",
    "is_estimator",
    "name_of",
    "register",
    "unregister",
]

#: Name -> ``module:class``. To move or rename a class, change the right-hand side.
CLASSES: dict[str, str] = {
    # classifiers
    "BRkNN": "manylabel.neighbors.brknn:BRkNN",
    "DependencyLDA": "manylabel.topics.dependency:DependencyLDA",
    "Ensemble": "manylabel.ensemble.ensemble:Ensemble",
    "FastXML": "manylabel.trees.fastxml:FastXML",
    "FeatureKNN": "manylabel.neighbors.lcif:FeatureKNN",
    "FlatLDA": "manylabel.topics.flat:FlatLDA",
    "IBLR": "manylabel.neighbors.iblr:IBLR",
    "InstanceKNN": "manylabel.neighbors.lcif:InstanceKNN",
    "LCIF": "manylabel.neighbors.lcif:LCIF",
    "MLkNN": "manylabel.neighbors.mlknn:MLkNN",
    "NamesAlone": "manylabel.ensemble.names_alone:NamesAlone",
    "OneVsRestSVM": "manylabel.linear.one_vs_rest:OneVsRestSVM",
    "PfastreXML": "manylabel.trees.pfastrexml:PfastreXML",
    "PriorLDA": "manylabel.topics.flat:PriorLDA",
    "SubsetLLDA": "manylabel.topics.subset:SubsetLLDA",
    "SubsetSVM": "manylabel.linear.subset:SubsetSVM",
    # other estimators; `Tuner` makes a Pipeline where features were dropped
    "CountVectorizer": "manylabel.text.vectorizer:CountVectorizer",
    "EntropySelector": "manylabel.neighbors.entropy:EntropySelector",
    "LDA": "manylabel.topics.lda:LDA",
    "Pipeline": "sklearn.pipeline:Pipeline",
    "Tuner": "manylabel.selection.tuner:Tuner",
    "Weighting": "manylabel.text.weighting:Weighting",
    # thresholds
    "Best": "manylabel.thresholds.best:Best",
    "Cardinality": "manylabel.thresholds.matching:Cardinality",
    "Fixed": "manylabel.thresholds.simple:Fixed",
    "MeanSize": "manylabel.neighbors.brknn:MeanSize",
    "PerLabel": "manylabel.thresholds.matching:PerLabel",
    "Promise": "manylabel.thresholds.promise:Promise",
    "Proportional": "manylabel.thresholds.matching:Proportional",
    "TopK": "manylabel.thresholds.simple:TopK",
    # the tagger
    "Tagger": "manylabel.tagger.tagger:Tagger",
    "TaggerDocuments": "manylabel.tagger.documents:KeptDocuments",
    "TaggerLabelEdits": "manylabel.tagger.label_edits:LabelEdits",
    "TaggerLabels": "manylabel.tagger.labels:Labels",
    "TaggerState": "manylabel.tagger.state:TaggerState",
    # parts of an ensemble
    "Calibration": "manylabel.metrics.calibration:Calibration",
    "Combination": "manylabel.ensemble.curves:Combination",
    "Curve": "manylabel.ensemble.curves:Curve",
    "EnsembleReport": "manylabel.ensemble.report:Report",
    # sources and scorers of several classifiers; the ensemble adds its own
    "LinearScorer": "manylabel.linear.scorer:LinearScorer",
    "NeighborSource": "manylabel.neighbors.source:NeighborSource",
    "TopicScorer": "manylabel.topics.scorer:TopicScorer",
    # vocabularies
    "LabelNames": "manylabel.vocabulary.label_names:LabelNames",
    "NameMatcher": "manylabel.vocabulary.matching:NameMatcher",
    "Vocabulary": "manylabel.vocabulary.vocabulary:Vocabulary",
    # parts of other models
    "CsrRows": "manylabel.kernels.votes:Csr",
    "DenseIndex": "manylabel.neighbors.dense:DenseIndex",
    "DenseNeighbors": "manylabel.neighbors.dense_scorer:DenseNeighbors",
    "Documents": "manylabel.scoring.documents:Documents",
    "FeatureSimilarity": "manylabel.neighbors.features:FeatureSimilarity",
    "Forest": "manylabel.trees.forest:Forest",
    "IndexPostings": "manylabel.kernels.index:Postings",
    "IndexRows": "manylabel.kernels.index:Rows",
    "IndexShard": "manylabel.neighbors.shard:Shard",
    "IndexTail": "manylabel.neighbors.shard:Tail",
    "LabelTopics": "manylabel.topics.label_topics:LabelTopics",
    "LabelledTraining": "manylabel.topics.training:LabelledTraining",
    "LinearModel": "manylabel.linear.model:LinearModel",
    "NeighborIndex": "manylabel.neighbors.index:NeighborIndex",
    "Network": "manylabel.network.training:Network",
    "NetworkSettings": "manylabel.network.training:NetworkSettings",
    "Profiles": "manylabel.regression.profiles:Profiles",
    "Regression": "manylabel.regression.training:Regression",
    "StringArray": "manylabel.strings:StringArray",
    "Vectors": "manylabel.vectors.vectors:Vectors",
    "WordLabels": "manylabel.topics.word_labels:WordLabels",
    "WordSums": "manylabel.scoring.word_sums:WordSums",
    "WordRules": "manylabel.text.words:WordRules",
    # sent between the machines of a cluster
    "AllRows": "manylabel.linear.one_vs_rest:AllRows",
    "IndexBatch": "manylabel.kernels.search:Batch",
    "LDAProblem": "manylabel.topics.lda:_Problem",
    "LabelledTrainingProblem": "manylabel.topics.training:_Problem",
    "LinearSettings": "manylabel.linear.training:Settings",
    "NearRows": "manylabel.linear.one_vs_rest:NearRows",
    "Neighbors": "manylabel.neighbors.strategies:Neighbors",
    "Pairs": "manylabel.linear.candidates:Pairs",
    "SamplerDocuments": "manylabel.topics.sampling:Documents",
    "SamplerFindings": "manylabel.topics.sampling:Findings",
    "SearchJob": "manylabel.neighbors.strategies:Job",
    "SvmProblem": "manylabel.kernels.svm:Problem",
    "SvmSolution": "manylabel.kernels.svm:Solution",
    "SweptPartition": "manylabel.topics.partitions:SweptPartition",
    "TextDictionary": "manylabel.text.dictionaries:Dictionary",
    "TextRows": "manylabel.text.blocks:Rows",
    "TopicChain": "manylabel.topics.lda:TopicChain",
    "TopicPartitions": "manylabel.topics.partitions:Partitions",
    "TopicRows": "manylabel.topics.label_topics:TopicRows",
    "TopicSchedule": "manylabel.topics.schedule:Schedule",
    "Trained": "manylabel.linear.training:Trained",
    "Weights": "manylabel.linear.training:Weights",
    "WordLabelRows": "manylabel.topics.word_labels:Rows",
}

#: Former name -> current name, so that older folders still load.
FORMER_NAMES = {"EveryLabel": "AllLabels", "IndexPart": "IndexShard"}

#: Name -> the function that converts the attributes of an older object to a current object. A class
#: of the first format is here under its full name; one whose attributes change later keeps its name
#: here, and gets a new one in ``CLASSES``.
CONVERTERS: dict[str, str] = {
    "manylabel.ensemble.curves.Combination": "manylabel.ensemble.first_format:combination",
    "manylabel.ensemble.ensemble.Ensemble": "manylabel.ensemble.first_format:ensemble",
    "manylabel.ensemble.learning.Learned": "manylabel.ensemble.first_format:report",
    "manylabel.linear.subset.SubsetSVM": "manylabel.linear.first_format:subset_svm",
    "manylabel.neighbors.lcif.FeatureKNN": "manylabel.neighbors.first_format:feature_knn",
    "manylabel.neighbors.lcif.InstanceKNN": "manylabel.neighbors.first_format:instance_knn",
    "manylabel.neighbors.lcif.LCIF": "manylabel.neighbors.first_format:lcif",
    "manylabel.selection.NeighborSearchCV": "manylabel.selection.first_format:tuner",
    "manylabel.topics.subset.SubsetLLDA": "manylabel.topics.first_format:subset_llda",
    "manylabel.tagger.memory.Memory": "manylabel.tagger.first_format:state",
    "manylabel.tagger.tagger.Tagger": "manylabel.tagger.first_format:tagger",
}

#: Names of classes that no longer exist. Their objects become
#: :class:`~manylabel.store.decoding.Former` objects, for the converter of the object that contains
#: them.
VANISHED: set[str] = {
    "manylabel.ensemble.linear.LinearPart",
    "manylabel.ensemble.neighborhood.Neighborhood",
    "manylabel.ensemble.topics.TopicPart",
    "manylabel.ensemble.trees.TreePart",
    "manylabel.tagger.learner.Learner",
}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_names = {location: name for name, location in CLASSES.items()}
_registered: dict[str, type] = {}


def register(cls: type, name: str | None = None) -> type:
    """Allow objects of a class in model folders, until `unregister` or the end of the process.

    A process that loads such a folder must register the class first.

    Parameters
    ----------
    cls : type
        Defined anywhere.
    name : str, optional
        The name in the folder: letters, digits, ``-`` and ``_``. By default the name of the
        class. It must stay the same when the code moves.

    Returns
    -------
    type
        The class, so that this works as a decorator.

    Raises
    ------
    InputError
        If another class has the name.

    Examples
    --------
    >>> class Half:
    ...     def __init__(self, whole): self.whole = whole
    >>> from tempfile import TemporaryDirectory
    >>> from manylabel import load, save
    >>> with TemporaryDirectory() as folder:
    ...     _ = register(Half, "half")
    ...     save(Half(6), folder)
    ...     load(folder).whole
    6
    >>> unregister(Half)
    """
    name = cls.__name__ if name is None else name
    if not _NAME.fullmatch(name):
        raise InputError(
            f"`name` must consist of letters, digits, '-' and '_', a letter first; got {name!r}."
        )
    if name in CLASSES or _registered.get(name, cls) is not cls:
        raise InputError(f"a class called {name!r} is already registered; choose another `name`.")
    known = name_of(cls)
    if known not in (None, name):
        raise InputError(f"{cls.__name__} is already registered, as {known!r}.")
    _registered[name] = cls
    return cls


def add_location(location: str) -> None:
    """Allow a class of the package in model folders, under its own name.

    For lists of classes that grow; ``location`` is ``module:class``, which is not imported yet.
    """
    name = location.rpartition(":")[2]
    if CLASSES.setdefault(name, location) != location:
        raise InputError(f"a class called {name!r} is already registered: {CLASSES[name]}.")
    _names[location] = name


def unregister(cls: type) -> None:
    """Undo `register`; nothing happens if the class is not registered."""
    for name in [name for name, registered in _registered.items() if registered is cls]:
        del _registered[name]


def name_of(cls: type) -> str | None:
    """The name under which objects of a class are stored; None if the class has none.

    Examples
    --------
    >>> from manylabel.neighbors import LCIF
    >>> name_of(LCIF), name_of(object)
    ('LCIF', None)
    """
    for name, registered in _registered.items():
        if registered is cls:
            return name
    listed = _names.get(f"{cls.__module__}:{cls.__qualname__}")
    return listed if listed is not None and class_named(listed) is cls else None


def class_named(name: str) -> type | None:
    """The class of that name; None if there is none."""
    if name in _registered:
        return _registered[name]
    location = CLASSES.get(FORMER_NAMES.get(name, name))
    return None if location is None else _imported(location)


def converter_of(name: str) -> Callable[[dict[str, Any]], Any] | None:
    """The function that converts the attributes of an older object of that name; None if none."""
    location = CONVERTERS.get(name)
    return None if location is None else _imported(location)


def is_estimator(cls: type) -> bool:
    """Whether objects have parameters, like scikit-learn's estimators."""
    return hasattr(cls, "get_params")


def _imported(location: str) -> Any:
    """Import what a table names as ``module:name``."""
    module, _, own_name = location.partition(":")
    return getattr(import_module(module), own_name)

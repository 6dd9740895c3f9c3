"""Training: from the arguments of `Tagger.fit` to a fitted model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import MultiLabelClassifier
from manylabel.corpus import Corpus
from manylabel.corpus.chunks import TextFile
from manylabel.corpus.vocabulary import first_repeated
from manylabel.exceptions import InputError, ParameterError
from manylabel.models import make_model
from manylabel.parallel import current_place
from manylabel.progress import Clock
from manylabel.scoring import Documents
from manylabel.tagger.documents import SNIPPET, KeptDocuments, widened
from manylabel.tagger.features import MIN_FOR_VIEWS, count_views, new_views
from manylabel.tagger.labels import LabelInfo, Labels
from manylabel.tagger.naming import Naming
from manylabel.tagger.state import TaggerState
from manylabel.text import CountVectorizer

__all__ = [
    "check_distinct",
    "name_of",
    "new_estimator",
    "text_file",
    "train",
    "train_without_documents",
]

#: Chooses a vectorizer, given a function for the texts of rows, all labels, and the default one.
Chooser = Callable[
    [Callable[[NDArray[np.int64]], list[str]], sparse.csr_array, CountVectorizer], CountVectorizer
]


def train(
    documents: Corpus | TextFile,
    model: Any,
    vectorizer: CountVectorizer,
    choose: Chooser | None,
    label_info: dict[str, LabelInfo],
    keep_texts: bool,
    clock: Clock,
    naming: Naming | None = None,
    with_views: bool = False,
    incomplete: NDArray[np.bool_] | None = None,
) -> TaggerState:
    """Count the words of documents and fit a model to them.

    Parameters
    ----------
    documents : Corpus or TextFile
    model : MultiLabelClassifier
        Not fitted.
    vectorizer : CountVectorizer
        Not fitted; ignored for documents that have features already.
    choose : callable, optional
        Chooses a better vectorizer.
    label_info : dict of str to LabelInfo
    keep_texts : bool
    clock : Clock
        Records the seconds per phase: "features", "vectorize", "train".
    naming : Naming, optional
        The vocabulary; the model also gets labels that no document has.
    with_views : bool
        Let the model read other views of the texts, too; those that it does not use are dropped.
    incomplete : ndarray of bool, optional
        Which documents may have more labels than are known.
    """
    if isinstance(documents, TextFile):
        whole = keep_texts or naming is not None
        corpus, counted, fitted = count_file(documents, vectorizer, choose, clock, whole)
    else:
        corpus, counted, fitted = count_corpus(documents, vectorizer, choose, clock)
    if naming is not None:
        corpus = naming.identified(corpus)
    Y, labels = corpus.Y, Labels(corpus.label_names, label_info)
    columns: Any = labels
    if naming is not None:
        naming.vocabulary.check_labels(corpus.label_names)
        listed = corpus.label_names
        if model.reads_views and counted.texts is not None:
            listed = naming.all_labels(listed)
            Y, columns = widened(Y, len(listed)), naming.label_names(listed)
        labels = Labels(listed, label_info, naming.vocabulary, naming.code)
    views: dict[str, CountVectorizer] = {}
    if with_views and fitted is not None and len(corpus) >= MIN_FOR_VIEWS:
        views = new_views(fitted)
        counted.views |= count_views(views, partial(_counts, documents))
        clock.lap("vectorize")
    if model.reads_views:
        model.set_params(vocabulary=columns)
    model.fit(counted, Y, incomplete)
    clock.lap("train")
    counts = counted.counts
    kept = KeptDocuments(corpus.ids, _kept_texts(corpus, keep_texts), Y, incomplete)
    return TaggerState(
        model,
        labels,
        kept,
        fitted,
        corpus.feature_names if fitted is None else [],
        np.bincount(counts.indices, minlength=counts.shape[1]),
        keep_texts,
        {name: view for name, view in views.items() if name in model.views_},
    )


def _counts(documents: Corpus | TextFile, vectorizer: CountVectorizer) -> sparse.csr_array:
    """Fit another vectorizer to all texts and count them."""
    if isinstance(documents, TextFile):
        return documents.count(vectorizer, 0).X
    return vectorizer.fit_transform(documents.texts or [])


def train_without_documents(
    vectorizer: CountVectorizer,
    label_info: dict[str, LabelInfo],
    keep_texts: bool,
    clock: Clock,
    naming: Naming,
    n_jobs: int | None,
) -> TaggerState:
    """Make a model that knows nothing but the names of labels."""
    from manylabel.ensemble.names_alone import NamesAlone

    listed = naming.all_labels([])
    named = naming.label_names(listed)
    if not len(named.matcher.names):
        raise InputError(
            f"the vocabulary has no names in the language of the texts, {naming.code!r}; it has "
            f"names in {', '.join(repr(code) for code in naming.vocabulary.languages)}."
        )
    counts = vectorizer.fit_transform(named.matcher.names.tolist())
    clock.lap("vectorize")
    model = NamesAlone(named, n_jobs=n_jobs).begin(counts.shape[1])
    clock.lap("train")
    return TaggerState(
        model,
        Labels(listed, label_info, naming.vocabulary, naming.code),
        KeptDocuments([], [], sparse.csr_array((0, len(listed)), dtype=np.int8)),
        vectorizer,
        [],
        np.bincount(counts.indices, minlength=counts.shape[1]),
        keep_texts,
    )


class Counted(NamedTuple):
    """Documents as features for training.

    Parameters
    ----------
    corpus : Corpus
    documents : Documents
        Their counts and, if available, whole texts.
    vectorizer : CountVectorizer or None
        None if the corpus has features instead of texts.
    """

    corpus: Corpus
    documents: Documents
    vectorizer: CountVectorizer | None


def count_corpus(
    corpus: Corpus, vectorizer: CountVectorizer, choose: Chooser | None, clock: Clock
) -> Counted:
    """Count the words of a corpus, or take its features if it has no texts."""
    _check(corpus)
    texts = corpus.full_texts
    if texts is None:
        return Counted(corpus, Documents(corpus.X), None)
    if choose is not None:
        vectorizer = choose(lambda rows: [texts[row] for row in rows], corpus.Y, vectorizer)
        clock.lap("features")
    counts = vectorizer.fit_transform(texts)
    clock.lap("vectorize")
    return Counted(corpus, Documents(counts, texts=texts), vectorizer)


def count_file(
    file: TextFile,
    vectorizer: CountVectorizer,
    choose: Chooser | None,
    clock: Clock,
    whole: bool,
) -> Counted:
    """Count the words of a file; if ``whole`` is false, keep only the beginnings of its texts."""
    n_characters = None if whole else SNIPPET
    corpus = file.count(vectorizer, n_characters)
    _check(corpus)
    clock.lap("vectorize")
    if choose is not None:
        better = choose(file.texts, corpus.Y, vectorizer)
        if better is not vectorizer:
            vectorizer, corpus = better, file.count(better, n_characters)
        clock.lap("features")
    return Counted(corpus, Documents(corpus.X, texts=corpus.texts if whole else None), vectorizer)


def check_distinct(ids: list[str]) -> None:
    """Refuse two documents with the same id."""
    repeated = first_repeated(ids)
    if repeated is not None:
        raise InputError(f"`ids` must be distinct; {repeated!r} occurs twice.")


def _check(corpus: Corpus) -> None:
    check_distinct(corpus.ids)
    if corpus.Y.nnz == 0:
        raise InputError("no document has a label, so there is nothing to learn.")


def _kept_texts(corpus: Corpus, keep_texts: bool) -> Sequence[str]:
    """The texts to keep: whole, or their beginnings."""
    texts = corpus.full_texts
    if texts is None:
        return [""] * len(corpus)
    return texts if keep_texts else [text[:SNIPPET] for text in texts]


def text_file(documents: Any, labels: Any = None, ids: Any = None) -> TextFile | None:
    """The file behind the arguments of `fit`, if a cluster can read it in chunks."""
    if isinstance(documents, TextFile):
        return documents
    if current_place() is None or labels is not None or ids is not None:
        return None
    return TextFile.at(documents) if isinstance(documents, str | os.PathLike) else None


def name_of(model: Any) -> str:
    """The name of a model, or the class of an estimator."""
    return model if isinstance(model, str) else type(model).__name__


def new_estimator(model: Any, parameters: dict[str, Any], effort: str | None, **own: Any) -> Any:
    """Make a model, not fitted; the tagger's own settings fill in parameters that are not given."""
    from manylabel.estimators import clone

    verbose = own.pop("verbose")
    settings: dict[str, Any] = own | {"effort": effort}
    if isinstance(model, str):
        estimator = make_model(model, parameters)
        # With new weights, each learned document would cost a pass over all the others.
        settings |= {"update_weights": False, "verbose": verbose}
    elif isinstance(model, MultiLabelClassifier):
        estimator = clone(model).set_params(**parameters)
    else:
        raise ParameterError(f"`model` must be a model's name or an estimator; got {model!r}.")
    known = estimator.get_params(deep=False)
    if effort is not None and "effort" not in known:
        raise ParameterError(
            f"`effort` is a parameter of the ensemble, not of {name_of(model)}; leave it out."
        )
    return estimator.set_params(
        **{
            name: value
            for name, value in settings.items()
            if name in known and name not in parameters and value is not None
        }
    )

"""Neighbours, words, a linear model and topics, each weighed by what it is worth."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from manylabel.base import MultiLabelClassifier
from manylabel.ensemble import reasons
from manylabel.ensemble.curves import Combination, fit_combination
from manylabel.ensemble.learning import (
    Evidence,
    Learned,
    choose_parts,
    raise_measure,
)
from manylabel.ensemble.linear import LinearPart
from manylabel.ensemble.neighborhood import Proposals, recall
from manylabel.ensemble.sources import SMALL, fit_neighborhood
from manylabel.ensemble.topics import TopicPart, train_without_folds
from manylabel.ensemble.trees import TreePart
from manylabel.evidence import Explanation
from manylabel.metrics import calibration, evaluate, get_measure
from manylabel.parallel import effective_jobs
from manylabel.predictions import keep_top, values_at
from manylabel.text.weighting import make_weighting
from manylabel.validation import check_gone, check_real, check_whole

__all__ = ["Ensemble"]

#: Parts that know a document as soon as it is learned.
LAZY = ("neighbours", "nearest", "words")
#: Documents scored at a time.
ROUND = 8_192
#: With no more documents than that, each is scored by models that were trained without it.
_FEW, _FOLDS = 6_000, 5
#: Of more documents, this share is scored so, and no more than that many.
_SHARE, _MOST = 0.2, 6_000
#: Candidates from which curves are learned.
_CURVES = 250_000
#: Trees are grown for at least so many documents.
_TREES_FROM = 2_000
_REPORTED = ("p@1", "p@3", "p@5", "ndcg@5")


class Ensemble(MultiLabelClassifier):
    r"""The learned combination of everything that votes for a document's candidate labels.

    One search of neighbours feeds all parts. The labels of a document's neighbours, and those that
    its words speak for, are its candidates. Every part scores them: the neighbours' votes, the
    votes of the nearest few alone, words (feature kNN), a linear SVM for each label trained on its
    candidates, and labelled LDA over the candidates. A rising curve turns each part's score into
    log-odds, and the log-odds add up:

    .. math:: \log \frac{p_l}{1 - p_l} = b_{g(l)} + a_{g(l)} \sum_i c_i(s_{il})

    with an offset and a factor for how frequent the label is. They are those under which the labels
    of training documents are likeliest, by scores of models that had not seen those documents; the
    curves are then stretched for the measure in ``objective``. Scores are probabilities.

    Parameters
    ----------
    k : int, default=100
        Neighbours.
    near : int, default=10
        The nearest of them vote a second time, among themselves.
    n_candidates : int, default=100
        At most so many labels are considered for a document.
    alpha : float or "auto", default="auto"
        The power of similarities in votes; the best of a few by the recall of the first labels.
    words : bool or "auto", default="auto"
        Let words propose labels and vote for them; by default if that makes better candidates.
    topics : bool, default=True
        Train the topic part.
    trees : bool or "auto", default="auto"
        Grow the tree part; by default for corpora of a middling size, where that is quick.
    objective : str, default="ndcg@5"
        What the combination is best for: a measure of the ranking, for which curves found by
        likelihood are stretched, or "likelihood".
    C : float, default=1
        Of the linear part: the weight of the loss against the regularisation.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of neighbours, words and the linear part. Topics read the features as they are.
    threshold : str, float or threshold, default="best:micro-f1"
        From probabilities to labels; fitted on out-of-sample scores.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads. The result does not depend on it.
    verbose : bool or int, default=0
        Show progress bars and, at the end, what was learned.

    Attributes
    ----------
    learned_ : Learned
        Weights, each part's measures alone and its gain; prints as a table.
    combination_ : Combination
        The curves. Parts that do not help are not among them and cost nothing in prediction.
    neighborhood_ : Neighborhood
    linear_ : LinearPart
    topics_ : TopicPart or None
    trees_ : TreePart or None

    Examples
    --------
    >>> from manylabel.corpus import load_library
    >>> corpus = load_library("train").vectorized()
    >>> model = Ensemble().fit(corpus.X, corpus.Y)
    >>> scores = model.decision_function(corpus.X[:1], top=3)
    >>> bool(0 < scores.data.min() and scores.data.max() < 1)
    True
    """

    gives_probabilities = True
    can_learn = True
    can_forget = True
    can_explain = True

    def __init__(
        self,
        k: int = 100,
        *,
        near: int = 10,
        n_candidates: int = 100,
        alpha: float | str = "auto",
        words: bool | str = "auto",
        topics: bool = True,
        trees: bool | str = "auto",
        objective: str = "ndcg@5",
        C: float = 1.0,
        weighting: Any = "tfidf",
        threshold: Any = "best:micro-f1",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.k = k
        self.near = near
        self.n_candidates = n_candidates
        self.alpha = alpha
        self.words = words
        self.topics = topics
        self.trees = trees
        self.objective = objective
        self.C = C
        self.weighting = weighting
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_whole("k", self.k, 1)
        check_whole("near", self.near, 1)
        check_whole("n_candidates", self.n_candidates, 1)
        if self.alpha != "auto":
            check_real("alpha", self.alpha, 0)
        check_real("C", self.C, 0)
        if self.objective != "likelihood":
            get_measure(self.objective)
        make_weighting(self.weighting)

    # Training

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.weighting_ = make_weighting(self.weighting, np.float32).fit(X)
        rows = self.weighting_.transform(X)
        folds = _folds(X.shape[0], self.seed_)
        held = np.flatnonzero(folds >= 0)
        self.alive_ = np.ones(X.shape[0], np.bool_)
        self.counts_ = np.bincount(Y.indices, minlength=Y.shape[1])
        # A new document has no words that no other has: training documents must do without theirs.
        lonely = np.bincount(X.indices, minlength=X.shape[1]) == 1
        shared, shared_rows = _without(X, lonely), _without(rows, lonely)
        with ThreadPoolExecutor(1) as aside:
            # Topics need no neighbours to be trained, and a single thread.
            topics = partial(train_without_folds, X, Y, folds, self.seed_)
            early = self.topics and effective_jobs(self.n_jobs) > 1
            training = aside.submit(copy_context().run, topics) if early else None
            self.neighborhood_ = fit_neighborhood(
                rows,
                shared_rows,
                Y,
                held,
                k=self.k,
                near=min(self.near, self.k),
                alpha=self.alpha,
                n_candidates=min(self.n_candidates, Y.shape[1]),
                words=self.words,
                n_jobs=self.n_jobs,
            )
            candidates, mine = self.neighborhood_.training_proposals(
                shared_rows, held, self.n_jobs, self.verbose
            )
            self.linear_, scores = LinearPart.train(
                rows,
                Y,
                candidates,
                folds,
                C=float(self.C),
                seed=self.seed_,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        parts = {name: votes.astype(np.float64) for name, votes in mine.votes.items()}
        shrunk = _lengths(shared_rows[held]) / _lengths(rows[held])
        parts["linear"] = self.linear_.rescaled(scores[held], mine.candidates, shrunk)
        self.topics_: TopicPart | None = None
        if self.topics:
            without, self.topics_ = training.result() if training else topics()
            parts["topics"] = self._held_out_topics(without, shared[held], mine, folds[held])
        self.trees_: TreePart | None = None
        if self._wants_trees(X):
            self.trees_ = TreePart.train(X, Y, self.weighting, self.seed_, self.n_jobs)
            parts["trees"] = self.trees_.held_out_scores(shared[held], held, mine.candidates)
        self._combine(mine.candidates, parts, Y, Y[held])

    def _wants_trees(self, X: sparse.csr_array) -> bool:
        if self.trees == "auto":
            return X.shape[0] >= _TREES_FROM and X.nnz <= SMALL
        return bool(self.trees)

    def _held_out_topics(
        self,
        without: list[TopicPart],
        X: sparse.csr_array,
        proposals: Proposals,
        folds: NDArray[np.int8],
    ) -> NDArray[np.float64]:
        """Scores of candidates by parts that have not seen the fold of the document."""
        found: dict[int, NDArray[np.float64]] = {}
        for fold, part in enumerate(without):
            out = np.flatnonzero(folds == fold)
            mine = proposals.of_rows(out)
            votes = mine.votes["neighbours"]
            scores = part.scores(X[out], mine.candidates, votes, self.n_jobs)
            rows = np.split(scores, mine.candidates.indptr[1:-1])
            found.update(zip(out.tolist(), rows, strict=True))
        return np.concatenate([found[row] for row in sorted(found)])

    def _combine(
        self,
        candidates: sparse.csr_array,
        parts: dict[str, NDArray[np.float64]],
        Y_train: sparse.csr_array,
        Y: sparse.csr_array,
    ) -> None:
        """Learn the curves, and say what was learned."""
        truth = values_at(Y, candidates) > 0
        # A label that is right has one document fewer without the one that is looked at. Counting
        # one fewer for wrong labels too keeps the truth out of the counts.
        counts = np.maximum(self.counts_[candidates.indices] - 1, 0)
        evidence = Evidence(candidates, parts, counts, Y)
        kept, gain = choose_parts(evidence, truth, protected=("neighbours",))
        few = evidence.rows % -(-truth.size // _CURVES) == 0 if truth.size else evidence.rows
        some = {name: values[few] for name, values in parts.items()}
        found = fit_combination({name: some[name] for name in kept}, counts[few], truth[few])
        if self.objective != "likelihood":
            found = raise_measure(evidence, found, self.objective, Y_train)
        found = found.calibrated(parts, counts, truth)
        lazy = [name for name in LAZY if name in parts]
        self.combination_ = found
        self.lazy_combination_ = fit_combination(
            {name: some[name] for name in lazy}, counts[few], truth[few]
        )
        if "topics" not in kept:
            self.topics_ = None
        if "trees" not in kept:
            self.trees_ = None
        scores = evidence.scores(expit(found(parts, counts)))
        self._held_out = scores, Y
        self.learned_ = Learned(
            alone={
                name: evaluate(Y, evidence.scores(values), metrics=_REPORTED)
                for name, values in parts.items()
            },
            together=evaluate(Y, scores, metrics=_REPORTED),
            gain=gain,
            pull={name: _pull(found, name, values, truth) for name, values in parts.items()},
            recall=recall(candidates, Y),
            n_candidates=candidates.nnz / max(candidates.shape[0], 1),
            calibration=calibration(Y, scores),
            n_documents=candidates.shape[0],
        )
        if self.verbose:
            print(self.learned_, file=sys.stderr)

    # Prediction

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        found = []
        for start in range(0, X.shape[0], ROUND):
            rows = X[start : start + ROUND]
            proposals, parts = self._parts(rows)
            log_odds = self._log_odds(proposals.candidates, parts)
            scores = proposals.candidates.astype(np.float64)
            scores.data = expit(log_odds)
            found.append(scores if top is None else keep_top(scores, top))
        if not found:
            return sparse.csr_array((0, self.n_labels_))
        return sparse.csr_array(sparse.vstack(found, "csr"))

    def _parts(self, X: sparse.csr_array) -> tuple[Proposals, dict[str, NDArray[np.float64]]]:
        """Candidates of documents, and what the parts that matter say of them."""
        weighted = self.weighting_.transform(X)
        hood = self.neighborhood_
        proposals = hood.proposals(weighted, hood.search(weighted, self.n_jobs), n_jobs=self.n_jobs)
        parts = {name: votes.astype(np.float64) for name, votes in proposals.votes.items()}
        if "linear" in self.combination_.curves:
            parts["linear"] = self.linear_.scores(weighted, proposals.candidates, self.n_jobs)
        if self.topics_ is not None:
            votes = proposals.votes["neighbours"]
            parts["topics"] = self.topics_.scores(X, proposals.candidates, votes, self.n_jobs)
        if self.trees_ is not None:
            parts["trees"] = self.trees_.scores(X, proposals.candidates)
        return proposals, parts

    def _log_odds(
        self, candidates: sparse.csr_array, parts: dict[str, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """The sum of all evidence; labels that only the lazy parts know are left to them."""
        counts = self.counts_[candidates.indices]
        log_odds = self.combination_(parts, counts)
        new = ~self.linear_.knows(candidates.indices)
        if new.any():
            some = {name: values[new] for name, values in parts.items()}
            log_odds[new] = self.lazy_combination_(some, counts[new])
        return log_odds

    def explain(
        self, X: Any, labels: ArrayLike | None = None, top: int = 5
    ) -> list[list[Explanation]]:
        """Say why: for each sample and label the reasons whose shares add up to its log-odds.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        labels : array of int, optional
            The labels to explain; by default the ``top`` best of each sample. A label that is no
            candidate of a sample has no reasons and a probability of 0.
        top : int

        Returns
        -------
        list of lists of Explanation
            One list a sample. Reasons are named after the parts, and ``"prior"`` for what is said
            of a label before the document is read; those of a part are its neighbours or words.
            ``score`` is the sum of all shares, in log-odds; ``probability`` is what
            :meth:`decision_function` gives.
        """
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        wanted = None if labels is None else np.atleast_1d(np.asarray(labels, np.int64))
        return [reasons.explain(self, X[[row]], row, wanted, top) for row in range(X.shape[0])]

    # Documents that come and go

    @property
    def frozen_parts_(self) -> tuple[str, ...]:
        """Parts that do not know what came or went after ``fit``."""
        check_is_fitted(self)
        return tuple(name for name in self.combination_.curves if name not in LAZY)

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn more documents at once.

        Neighbours and words know them as if they had been there from the start, but for the
        weighting of features, which stays as it is; in large collections words follow every
        thousandth of the documents. Curves and the parts in ``frozen_parts_`` stay as ``fit`` left
        them: fit again from time to time. A new label is judged by neighbours and words alone until
        then.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        Y : sparse matrix or array-like of shape (n_samples, n_labels)
            May have more columns than before: new labels.
        classes : array, optional
            If Y is a vector of classes: all that will ever come, at the first call.
        """
        if not hasattr(self, "neighborhood_"):
            return self._fit_checked(X, Y, classes)
        X, Y = self._checked_more(X, Y)
        if Y.shape[1] > self.n_labels_:
            self._more_labels(Y.shape[1])
        self.neighborhood_.add(self.weighting_.transform(X), Y)
        self.counts_ = self.counts_ + np.bincount(Y.indices, minlength=self.n_labels_)
        self.alive_ = np.concatenate([self.alive_, np.ones(X.shape[0], np.bool_)])
        return self

    def _more_labels(self, n_labels: int) -> None:
        """Make room for labels that no part knows yet."""
        self.counts_ = np.pad(self.counts_, (0, n_labels - self.n_labels_))
        self.n_labels_ = n_labels
        self.classes_ = np.arange(n_labels)
        self.linear_ = self.linear_.with_labels(n_labels)
        if self.topics_ is not None:
            self.topics_ = self.topics_.with_labels(n_labels)

    def remove(self, numbers: ArrayLike) -> Self:
        """Forget training documents.

        Neighbours and words forget them entirely; the parts in ``frozen_parts_`` do when the model
        is fitted again.

        Parameters
        ----------
        numbers : array of int
            Their places in the order in which ``fit`` and ``partial_fit`` were given them.
        """
        check_is_fitted(self)
        gone = check_gone(numbers, self.alive_)
        if gone.size == 0:
            return self
        self.alive_ = self.alive_.copy()
        self.alive_[gone] = False
        lost = self.neighborhood_.Y[gone]
        self.counts_ = self.counts_ - np.bincount(lost.indices, minlength=self.n_labels_)
        self.neighborhood_.remove(gone)
        return self

    def compact(self) -> NDArray[np.int64]:
        """Index the documents that are left anew: searching is as fast as after ``fit``.

        Scores stay the same, but for words that were about to follow what came and went.

        Returns
        -------
        numbers : ndarray of int64
            The old number of each document; their places are the new ones.
        """
        check_is_fitted(self)
        kept = self.neighborhood_.compact()
        self.alive_ = np.ones(kept.size, np.bool_)
        return kept


def _without(X: sparse.csr_array, columns: NDArray[np.bool_]) -> sparse.csr_array:
    """The same rows without some columns' entries."""
    if not columns.any():
        return X
    keep = ~columns[X.indices]
    ptr = np.concatenate([[0], np.cumsum(keep)])[X.indptr]
    return sparse.csr_array((X.data[keep], X.indices[keep], ptr), shape=X.shape)


def _lengths(X: sparse.csr_array) -> NDArray[np.float64]:
    """Lengths of the rows; 1 for rows of zeros."""
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel())
    return np.where(lengths > 0, lengths, 1.0)


def _folds(n_rows: int, seed: int) -> NDArray[np.int8]:
    """The fold of each document; -1 for those of which no out-of-sample score is needed."""
    order = np.random.default_rng(seed).permutation(n_rows)
    folds = np.full(n_rows, -1, np.int8)
    if n_rows <= _FEW:
        folds[order] = np.arange(n_rows) % min(_FOLDS, n_rows)
    else:
        folds[order[: min(_MOST, int(_SHARE * n_rows))]] = 0
    return folds


def _pull(
    combination: Combination, name: str, scores: NDArray[np.float64], truth: NDArray[np.bool_]
) -> float:
    """How far a part sets true candidates apart, in log-odds."""
    if name not in combination.curves or truth.all() or not truth.any():
        return 0.0
    values = combination.curves[name](scores)
    return float(values[truth].mean() - values[~truth].mean())

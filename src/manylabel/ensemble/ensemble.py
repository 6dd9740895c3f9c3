"""Several scorers of the same candidates, each weighed by what it is worth."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.base import ExplainLabels, Grid
from manylabel.ensemble.choosing import (
    HeldOut,
    choose_scorers,
    stretch_curves,
    weigh_by_frequency,
)
from manylabel.ensemble.curves import Combination, fit_combination, frequency_group
from manylabel.ensemble.effort import check_effort, is_within
from manylabel.ensemble.fitting import (
    fit_scorer,
    held_out_folds,
    known_elsewhere,
    lessons,
    prepared_aside,
)
from manylabel.ensemble.out_of_sample import OutOfSample
from manylabel.ensemble.report import Report
from manylabel.ensemble.scorers import make_scorers, make_sources
from manylabel.ensemble.updating import Updating
from manylabel.estimators import check_is_fitted, check_random_state
from manylabel.evidence import Explanation, Reason, WordReasons
from manylabel.exceptions import ParameterError
from manylabel.kernels.logistic import expit
from manylabel.metrics import calibration, evaluate, get_measure
from manylabel.neighbors.scorers import fit_source
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.candidates import recall, union
from manylabel.text.weighting import make_weighting
from manylabel.validation import (
    check_real,
    check_whole,
)

__all__ = ["Ensemble"]

#: Documents scored at a time.
ROUND = 8_192
#: Labels with so few documents lose the one that is looked at only if they are right: among these a
#: document more or less means much.
_RARE = 5
#: Candidates from which curves are learned.
_CURVES = 250_000
_REPORTED = ("p@1", "p@3", "p@5", "ndcg@5")


class Ensemble(Updating):
    r"""The learned combination of everything that speaks for a document's candidate labels.

    Sources propose candidates: the labels of a document's neighbours, and those that its words
    speak for. Every scorer scores them: the neighbours' votes, the votes of the nearest few alone,
    words (feature kNN), a linear SVM for each label trained on its candidates, a network that reads
    words beside each other, labelled LDA over the candidates, trees.
    ``manylabel.ensemble.scorers.SCORERS`` lists them all. A rising curve turns each score into
    log-odds, and the log-odds add up:

    .. math:: \log \frac{p_l}{1 - p_l} = b_{g(l)} + a_{g(l)} \sum_i w_{i,g(l)} c_i(s_{il})

    with an offset, a factor and a weight of each scorer for how frequent the label is. They are
    those under which the labels of training documents are likeliest, by scores of models that had
    not seen those documents; the curves are then stretched for the measure in ``objective``.
    Scores are probabilities.

    :meth:`explain` gives log-odds as ``score`` and what :meth:`decision_function` gives as
    ``probability``. Reasons are named after the scorers, and ``"prior"`` for what is said of a
    label before the document is read; those of a scorer are its neighbours or words.

    Parameters
    ----------
    k : int, default=100
        Neighbours.
    near : int, default=10
        The nearest of them vote a second time, among themselves.
    n_candidates : int, default=100
        How many labels the neighbours and words may propose for a document.
    alpha : float or "auto", default="auto"
        The power of similarities in votes; the best of a few by the ranking of the first labels.
    scorers : "auto" or list of str, default="auto"
        Which scorers to fit. By default all that pay for a corpus of this kind; those that do not
        help on held-out documents are dropped, and cost nothing in prediction.
    sources : "auto" or list of str, default="auto"
        Sources of candidates beside the neighbours.
    effort : {"quick", "normal", "best"}, default="normal"
        How much time training may take where ``scorers`` is "auto". "quick" fits neighbours, words
        and one linear model. "best" fits what "normal" does, and weighs it by scores of models
        that lacked fewer documents.
    objective : str, default="ndcg@5"
        What the combination is best for: a measure of the ranking, for which curves found by
        likelihood are stretched, or "likelihood".
    C : float, default=1
        Of linear models: the weight of the loss against the regularisation.
    vocabulary : optional
        What is known of the labels, column by column, for scorers that read it.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of neighbours, words and linear models. Topics read the features as they are.
    threshold : str, float or threshold, default="best:micro-f1"
        From probabilities to labels; fitted on out-of-sample scores.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads. The result does not depend on it.
    verbose : bool or int, default=0
        Show progress bars and, at the end, what was learned.

    Attributes
    ----------
    report_ : Report
        Weights, each scorer's measures alone and its gain; prints as a table.
    combination_ : Combination
        The curves, by scorer.
    source_ : NeighborSource
    sources_ : list of CandidateSource
        The other sources.
    scorers_ : dict of str to Scorer
        Those that are in use.
    held_out_ : tuple of csr_array
        Out-of-sample probabilities of training documents, and their labels: what `promise` and
        thresholds are fitted on.

    Examples
    --------
    >>> from manylabel.corpus import load_catalogue
    >>> corpus = load_catalogue("train").vectorized()
    >>> model = Ensemble().fit(corpus.X, corpus.Y)
    >>> scores = model.decision_function(corpus.X[:1], top=3)
    >>> bool(0 < scores.data.min() and scores.data.max() < 1)
    True
    """

    gives_probabilities = True
    can_explain = True
    reads_views = True
    can_promise = True
    can_leave_out = True
    reads_incomplete = True
    # Whether `fit` scores all training documents, for `fit_out_of_sample`.
    _scores_everyone = False
    default_grid: ClassVar[Grid] = {
        "k": (50, 100, 200),
        "n_candidates": (50, 100),
        "C": (0.3, 1.0, 3.0),
        "weighting": ("tfidf", "bm25"),
    }

    def __init__(
        self,
        k: int = 100,
        *,
        near: int = 10,
        n_candidates: int = 100,
        alpha: float | str = "auto",
        scorers: str | Iterable[str] = "auto",
        sources: str | Iterable[str] = "auto",
        effort: str = "normal",
        objective: str = "ndcg@5",
        C: float = 1.0,
        vocabulary: Any = None,
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
        self.scorers = scorers
        self.sources = sources
        self.effort = effort
        self.objective = objective
        self.C = C
        self.vocabulary = vocabulary
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
        if not make_scorers(self.scorers):
            raise ParameterError("`scorers` must name at least one scorer; got an empty list.")
        make_sources(self.sources)
        check_effort(self.effort)

    # Training

    def _fit(self, X: sparse.csr_array | Documents, Y: sparse.csr_array) -> None:
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        documents, incomplete = Documents.of(X), self._incomplete
        self.weighting_ = make_weighting(self.weighting, np.float32).fit(documents.counts)
        everyone = self._scores_everyone
        folds = held_out_folds(
            Y.shape[0], self.seed_, self.effort, everyone, None if everyone else incomplete
        )
        training = Training(
            documents.weighted(self.weighting_),
            Y,
            folds,
            self.seed_,
            self.n_jobs,
            self.verbose,
            self.get_params(deep=False),
            self.vocabulary,
            incomplete=incomplete,
        )
        self.alive_ = np.ones(Y.shape[0], np.bool_)
        self.counts_ = np.bincount(Y.indices, minlength=Y.shape[1])
        # Labels that appear later, or have no document yet, are left to scorers that learn at once.
        self.known_labels_ = self.counts_ > 0
        is_forced = self.scorers != "auto"
        scorers = [
            scorer
            for scorer in make_scorers(self.scorers)
            if is_forced or (is_within(scorer.effort, self.effort) and scorer.wants(training))
        ]
        with ThreadPoolExecutor(1) as executor:
            aside = prepared_aside(scorers, training, executor)
            self.source_ = fit_source(
                training,
                k=self.k,
                near=self.near,
                alpha=self.alpha,
                limit=min(self.n_candidates, Y.shape[1]),
            )
            scorers = [s for s in scorers if s.consult(self.source_, training, is_forced)]
            self.source_.trial = None
            candidates, held, honest = self._propose_training(training)
            scores = {}
            for scorer in scorers:
                if scorer.name in aside:
                    aside[scorer.name].result()
                else:
                    scorer.prepare(lessons(scorer, training))
                scores[scorer.name] = fit_scorer(scorer, training, candidates, held)
        known = known_elsewhere(training, held)
        for scorer in scorers:
            if not scorer.learns_at_once:
                # As in new documents: such a scorer has no opinion on labels that are new to it.
                scores[scorer.name] = np.where(known, scores[scorer.name], 0.0)
        others = self.counts_[held.labels]
        held_out = HeldOut(held, scores, others, Y[training.held], known)
        # How many other documents have the label. That gives the truth away where a document is
        # between two groups of labels; of frequent labels it is taken off whether right or not.
        taken = np.where(others <= _RARE, held_out.truth, 1)
        held_out = replace(held_out, counts=others - taken)
        judged = held_out if honest is None else held_out.take(honest)
        if training.judged.size < training.held.size:
            judged = judged.of_documents(np.isin(training.held, training.judged))
        self._combine(scorers, judged, Y)
        if honest is not None:
            # One document fewer for all labels, right or wrong, keeps the truth out of the counts.
            counts = np.where(known, np.maximum(others - 1, 0), 0)
            self._everyone = OutOfSample(held.pattern, scores, counts, self.combination_, honest)

    def fit_out_of_sample(self, X: Any, Y: Any, incomplete: Any = None) -> OutOfSample:
        """Fit, and say how likely each label of each training document is without the document.

        Like :meth:`fit`, but every document is scored by models that have not seen it, not only a
        sample: neighbours and words leave it out, the other scorers are trained without its fold.
        In a corpus of over 6,000 documents this takes longer.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        Y : sparse matrix or array-like of shape (n_samples, n_labels)
        incomplete : array of bool, optional
            As in ``fit``.

        Returns
        -------
        OutOfSample
            Of the candidates of every document, and of the labels that it has; of an incomplete
            document only the latter.
        """
        self._scores_everyone = True
        try:
            self.fit(X, Y, incomplete)
            out_of_sample: OutOfSample = self.__dict__.pop("_everyone")
        finally:
            del self._scores_everyone
        return out_of_sample

    def _propose_training(
        self, training: Training
    ) -> tuple[sparse.csr_array, Candidates, NDArray[np.bool_] | None]:
        """Candidates of all training documents, and more of those that are held out.

        Where everyone is to be scored, the labels of documents are among their candidates; the
        last array says which were proposed without looking at them.
        """
        self.sources_ = [s for s in make_sources(self.sources) if s.wants(training)]
        everyone, also = np.arange(len(training.documents)), None
        for source in self.sources_:
            source.fit(training)
        if self.sources_:
            also = union(
                [s.propose(training.shared, everyone, self.n_jobs).pattern for s in self.sources_]
            )
        given = training.Y if self._scores_everyone else None
        candidates, held = self.source_.propose_training(
            training.shared, training.held, also, self.n_jobs, self.verbose, given
        )
        honest = None
        if given is not None:
            honest = values_at(candidates, held.pattern) > 0
            candidates = union([candidates, given])
        if training.incomplete is not None:
            # What is not known teaches nothing.
            candidates = training.known(candidates)
            kept = values_at(candidates, held.pattern) > 0
            held = held.keep(kept)
            honest = None if honest is None else honest[kept]
        return candidates, replace(held, vocabulary=self.vocabulary), honest

    def _combine(self, scorers: list[Scorer], held_out: HeldOut, Y_train: sparse.csr_array) -> None:
        """Learn the curves, keep the scorers that help, and report what was learned."""
        truth, parts, Y, known = held_out.truth, held_out.scores, held_out.Y, held_out.known
        protected = tuple(scorer.name for scorer in scorers if scorer.is_needed)
        # Labels that only documents of the fold have are like labels without documents.
        others, counts = held_out.counts, np.where(known, held_out.counts, 0)
        held_out = replace(held_out, counts=counts)
        kept, gain = choose_scorers(held_out, protected)
        rows = held_out.candidates.rows
        # Documents evenly spread, so that their candidates are about so many.
        share = min(1.0, _CURVES / max(truth.size, 1))
        few = np.floor((rows + 1) * share) > np.floor(rows * share)
        some = {name: values[few] for name, values in parts.items()}
        combination = fit_combination({name: some[name] for name in kept}, counts[few], truth[few])
        combination = weigh_by_frequency(held_out, combination)
        if self.objective != "likelihood":
            combination = stretch_curves(held_out, combination, self.objective, Y_train)
        combination = combination.calibrated(parts, counts, truth)
        self.combination_ = combination
        at_once = [s.name for s in scorers if s.learns_at_once and s.judges_new_labels]
        self.lazy_combination_ = fit_combination(
            {name: some[name] for name in at_once}, others[few], truth[few], is_cautious=True
        )
        self.scorers_ = {
            scorer.name: scorer
            for scorer in scorers
            if scorer.name in kept or scorer.name in at_once
        }
        named = [scorer.name for scorer in scorers if scorer.judges_bare_labels]
        self.bare_combination_ = self.lazy_combination_
        if named:
            self.bare_combination_ = fit_combination(
                {name: some[name] for name in named}, counts[few], truth[few], is_cautious=True
            )
        log_odds = np.where(
            known, combination(parts, counts), self.bare_combination_(parts, counts)
        )
        scores = held_out.candidates.scores(expit(log_odds))
        self._held_out = self.held_out_ = scores, Y
        self.report_ = Report(
            alone={
                name: evaluate(Y, held_out.candidates.scores(values), metrics=_REPORTED)
                for name, values in parts.items()
            },
            together=evaluate(Y, scores, metrics=_REPORTED),
            gain=gain,
            pull={name: _pull(combination, name, values, truth) for name, values in parts.items()},
            recall=recall(held_out.candidates.pattern, Y),
            n_candidates=len(held_out.candidates) / max(Y.shape[0], 1),
            calibration=calibration(Y, scores),
            n_documents=Y.shape[0],
        )
        if self.verbose:
            print(self.report_, file=sys.stderr)

    # Prediction

    def _scores(self, X: sparse.csr_array | Documents, top: int | None) -> sparse.csr_array:
        blocks, n_rows = [], X.shape[0]
        for start in range(0, n_rows, ROUND):
            documents, candidates = self._candidates(
                X if n_rows <= ROUND else X[start : start + ROUND], self.n_jobs
            )
            parts = {
                name: scorer.score(documents, candidates, self.n_jobs)
                for name, scorer in self.scorers_.items()
            }
            scores = candidates.scores(expit(self._log_odds(candidates, parts)))
            if n_rows <= ROUND:
                return scores
            blocks.append(scores if top is None else keep_top(scores, top))
        if not blocks:
            return sparse.csr_array((0, self.n_labels_))
        return sparse.csr_array(sparse.vstack(blocks, "csr"))

    def scores_left_out(self, X: Any, numbers: ArrayLike) -> sparse.csr_array:
        """Score documents that were learned after ``fit`` as if they had not been.

        Neighbours and words leave each document out. The scorers in ``frozen_parts_`` have never
        seen it.

        Parameters
        ----------
        X : sparse matrix, array-like or Documents
            The documents.
        numbers : array of int
            Their places in the order in which ``fit`` and ``partial_fit`` were given them.

        Returns
        -------
        csr_array of shape (n_documents, n_labels)
        """
        check_is_fitted(self)
        places = np.asarray(numbers, np.int64)
        documents, candidates = self._candidates(
            self._checked_features(X, reset=False), self.n_jobs, places
        )
        parts = {
            name: scorer.score(documents, candidates, self.n_jobs)
            for name, scorer in self.scorers_.items()
        }
        own = values_at(self.source_.Y[places], candidates.pattern).astype(np.int64)
        return candidates.scores(expit(self._log_odds(candidates, parts, own)))

    def _candidates(
        self,
        X: sparse.csr_array | Documents,
        n_jobs: int | None,
        leave_out: NDArray[np.int64] | None = None,
    ) -> tuple[Documents, Candidates]:
        """Documents with weighted rows, and their candidates by all sources."""
        documents, also = Documents.of(X).weighted(self.weighting_), None
        if self.sources_:
            also = union([s.propose(documents, leave_out, n_jobs).pattern for s in self.sources_])
        candidates = self.source_.propose(documents, leave_out, n_jobs, also)
        return documents, replace(candidates, vocabulary=self.vocabulary)

    @property
    def views_(self) -> frozenset[str]:
        """The views of documents that scorers read, beside the counts."""
        check_is_fitted(self)
        return frozenset(scorer.view for scorer in self.scorers_.values()) - {"rows"}

    def _log_odds(
        self,
        candidates: Candidates,
        parts: dict[str, NDArray[np.float64]],
        own: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float64]:
        """The sum of all evidence; new labels are left to scorers that learn at once.

        Of labels that no document has, only names say anything: that no neighbour has such a label
        does not speak against it.

        ``own`` is 1 for labels of documents that are to be left out of the labels' counts.
        """
        counts = self.counts_[candidates.labels]
        if own is not None:
            counts = counts - own
        log_odds = self.combination_(parts, counts)
        new = ~self.known_labels_[candidates.labels]
        for which, combination in (
            (new & (counts > 0), self.lazy_combination_),
            (new & (counts == 0), self._of_bare_labels),
        ):
            if which.any():
                some = {name: values[which] for name, values in parts.items()}
                log_odds[which] = combination(some, counts[which])
        return log_odds

    @property
    def _of_bare_labels(self) -> Combination:
        """The curves of labels without documents; older models have none of their own."""
        return getattr(self, "bare_combination_", self.lazy_combination_)

    def _explaining(
        self, X: sparse.csr_array | Documents, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """One pass for scores and reasons."""
        documents, candidates = self._candidates(X, 1)
        by_scorer = {
            name: scorer.explaining(documents, candidates) for name, scorer in self.scorers_.items()
        }
        parts = {name: scores for name, (scores, _) in by_scorer.items()}
        log_odds = self._log_odds(candidates, parts)

        def explain(labels: NDArray[np.int64]) -> list[Explanation]:
            return [explained(label) for label in labels.tolist()]

        def explained(label: int) -> Explanation:
            place = candidates.place(label)
            assert place is not None
            combination = self.combination_
            if not self.known_labels_[label]:
                is_bare = self.counts_[label] == 0
                combination = self._of_bare_labels if is_bare else self.lazy_combination_
            group = int(frequency_group(self.counts_[[label]])[0])
            reasons = [Reason("prior", float(combination.offsets[group]))]
            for name, curve in combination.curves.items():
                scores, why = by_scorer[name]
                score = float(scores[place])
                slope = combination.factor(name, group) * curve.slope(score)
                below = _scaled(why(place), slope)
                if score or below:
                    scorer, share = self.scorers_[name], slope * score
                    reasons.append(
                        Reason(
                            name,
                            share,
                            reasons=below,
                            title=scorer.title,
                            sentence=_sentence(below) or scorer.sentence,
                        )
                    )
            reasons.sort(key=lambda reason: -reason.share)
            score = float(log_odds[place])
            return Explanation(0, label, score, tuple(reasons), float(expit(log_odds[[place]])[0]))

        return candidates.scores(expit(log_odds)), explain


def _scaled(reasons: Sequence[Reason], factor: float) -> Sequence[Reason]:
    """Reasons of a score that counts ``factor`` times, greatest share first."""
    if isinstance(reasons, WordReasons):
        return reasons.scaled(factor)
    return tuple(sorted((r.scaled(factor) for r in reasons), key=lambda r: -r.share))


def _sentence(reasons: Sequence[Reason]) -> str:
    """What the first reason that says something has to say; words say nothing."""
    if isinstance(reasons, WordReasons):
        return ""
    return next((reason.sentence for reason in reasons if reason.sentence), "")


def _pull(
    combination: Combination, name: str, scores: NDArray[np.float64], truth: NDArray[np.bool_]
) -> float:
    """How far a scorer sets true candidates apart, in log-odds."""
    if name not in combination.curves or truth.all() or not truth.any():
        return 0.0
    values = combination.curves[name](scores)
    return float(values[truth].mean() - values[~truth].mean())

"""Combine several scorers of the same candidates, each weighted by how much it helps."""

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
    CURVES,
    HeldOut,
    add_rivals,
    choose_scorers,
    judge_unused_labels,
    most_likely,
    stretch_curves,
    thinned,
)
from manylabel.ensemble.curves import Combination, fit_combination, frequency_group
from manylabel.ensemble.fitting import (
    enough_documents,
    fair_sample,
    fit_scorers,
    held_out_folds,
    known_elsewhere,
    prepare_in_background,
    random_labels,
)
from manylabel.ensemble.out_of_sample import OutOfSample
from manylabel.ensemble.report import Report
from manylabel.ensemble.scorers import check_effort, is_within, make_scorers, make_sources
from manylabel.ensemble.updating import Updating
from manylabel.estimators import check_is_fitted, check_random_state
from manylabel.evidence import Explanation, Reason, ReasonsOnAccess
from manylabel.exceptions import ParameterError
from manylabel.kernels.logistic import expit
from manylabel.metrics import calibration, evaluate, get_measure
from manylabel.neighbors.scorers import fit_source
from manylabel.neighbors.source import PROPOSED
from manylabel.predictions import keep_top, values_at
from manylabel.scoring import Candidates, CandidateSource, Documents, Scorer, Training
from manylabel.scoring.candidates import recall, union
from manylabel.scoring.training import MANY
from manylabel.text.weighting import make_weighting
from manylabel.validation import (
    check_real,
    check_unless_auto,
    check_whole,
)

__all__ = ["Ensemble"]

#: Documents scored at a time.
ROUND = 8_192
#: With this many documents, a normal training doesn't search for the neighbours of all either.
_VERY_MANY = 100_000
#: A quick training of more documents compares each with at most this many others: a segment of the
#: index.
GROUP = 65_536
#: For labels with at most this many documents, the held-out document is subtracted from the count
#: only if it has the label: one document more or less matters a lot to a rare label.
_RARE = 5
_REPORTED = ("p@1", "p@3", "p@5", "ndcg@5")


class Ensemble(Updating):
    r"""A learned combination of scorers for a document's candidate labels.

    Sources propose candidates: the labels of a document's neighbours, and labels suggested by its
    words. Every scorer scores them: the neighbours' votes, the votes of only the nearest few,
    words (feature kNN), a linear SVM for each label trained on its candidates, a regression and a
    network that read words in combination, labelled LDA over the candidates, trees.
    ``manylabel.ensemble.scorers.SCORERS`` lists them all. An increasing curve turns each score into
    log-odds, and the log-odds add up:

    .. math:: \log \frac{p_l}{1 - p_l} = b_{g(l)} + a_{g(l)} \sum_i w_{i,g(l)} c_i(s_{il})

    The offset, the factor and the weight of each scorer depend on how frequent the label is.
    Training maximises the likelihood of the labels of training documents, given scores of models
    that have not seen those documents, then stretches the curves for the measure in ``objective``.
    Scores are probabilities.

    :meth:`explain` returns log-odds as ``score``, and the value of :meth:`decision_function` as
    ``probability``. Reasons are named after the scorers; ``"prior"`` is the share of a label before
    the document is read. Below the reason of a scorer are its neighbours or words.

    Parameters
    ----------
    k : int, default=100
        Number of neighbours.
    near : int, default=10
        This many of the nearest neighbours vote a second time, on their own.
    n_candidates : int, default=100
        Maximum number of labels that neighbours and words propose per document.
    alpha : float or "auto", default="auto"
        Exponent of the similarities in votes; "auto" tries a few values and takes the one that
        ranks the first labels best.
    scorers : "auto" or list of str, default="auto"
        Scorers to fit. By default, all that suit the corpus. Those that do not help on held-out
        documents are dropped and cost nothing in prediction.
    sources : "auto" or list of str, default="auto"
        Sources of candidates in addition to the neighbours.
    effort : {"normal", "quick", "best"}, default="normal"
        How much time training may take if ``scorers`` is "auto". "quick" fits neighbours, words
        and one linear model, and weighs them on fewer documents. "best" fits the same scorers as
        "normal", but uses more folds, so that the models behind held-out scores see more of the
        documents.
    objective : str, default="ndcg@5"
        What to optimise: a ranking measure, for which the maximum-likelihood curves are stretched,
        or "likelihood".
    C : float, default=1
        For linear models: weight of the loss against the regularisation.
    vocabulary : optional
        Names and relations of the labels, by column, for scorers that use them.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Weighting of features for neighbours, words and linear models. Topics read raw features.
    threshold : str, float or threshold, default="best:micro-f1"
        Turns probabilities into labels; fitted on out-of-sample scores.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads. The result does not depend on it.
    verbose : bool or int, default=0
        Show progress bars and, at the end, the report.

    Attributes
    ----------
    report_ : Report
        Weight and gain of each scorer, and its measures alone; prints as a table.
    combination_ : Combination
        The curve of each scorer.
    source_ : NeighborSource
    sources_ : list of CandidateSource
        The other sources.
    scorers_ : dict of str to Scorer
        The scorers in use.
    held_out_ : tuple of csr_array
        Out-of-sample probabilities of training documents, and their labels. `promise` and
        thresholds are fitted on them.

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
    _scores_all_documents = False
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
        check_unless_auto(check_real, "alpha", self.alpha, 0)
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
        all_documents = self._scores_all_documents
        folds = held_out_folds(
            Y.shape[0],
            Y.shape[1],
            self.seed_,
            self.effort,
            all_documents,
            None if all_documents else incomplete,
        )
        documents = documents.weighted(self.weighting_)
        # What an earlier training has learned from the same documents does not count.
        documents.cache = {}
        training = Training(
            documents,
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
        # Labels without documents, and those that appear later, use scorers that learn at once.
        self.known_labels_ = self.counts_ > 0
        is_forced = self.scorers != "auto"
        scorers = [
            scorer
            for scorer in make_scorers(self.scorers)
            if is_forced or (is_within(scorer.effort, self.effort) and scorer.wants(training))
        ]
        with ThreadPoolExecutor(1) as executor:
            prepared = prepare_in_background(scorers, training, executor)
            self.source_ = fit_source(
                training,
                k=self.k,
                near=self.near,
                alpha=self.alpha,
                limit=min(self.n_candidates, Y.shape[1]),
            )
            scorers = [s for s in scorers if s.configure_source(self.source_, training, is_forced)]
            candidates, held, proposed = self._propose_training(training, scorers)
            self.source_.trial = None
            known = known_elsewhere(training, held)
            # Documents are judged by these probabilities: no count may reveal the truth.
            fewer: NDArray[Any] = np.maximum(self.counts_ - 1, 0).astype(np.int32)
            held_out = HeldOut(held, {}, fewer[held.labels], Y[training.held], known)
            if proposed is None:
                # Subtracting only from true labels reveals the truth where it moves a label to
                # another group, so this is done for rare labels alone.
                others = self.counts_[held.labels]
                taken = np.where(others <= _RARE, held_out.truth, 1)
                held_out = replace(held_out, counts=others - taken)
            scores = fit_scorers(
                scorers, training, candidates, held_out, proposed, prepared, not is_forced
            )
        scorers = [scorer for scorer in scorers if scorer.name in scores]
        held_out = replace(held_out, scores=scores)
        self._combine(scorers, fair_sample(training, held_out, proposed), Y)
        if proposed is not None:
            self._out_of_sample = OutOfSample(
                held.pattern,
                held_out.only(list(self.combination_.curves)),
                held_out.counts * known,
                self.combination_,
                proposed,
                held.neighbors,
            )

    def fit_out_of_sample(self, X: Any, Y: Any, incomplete: Any = None) -> OutOfSample:
        """Fit, and estimate how likely each label of each training document is.

        Like :meth:`fit`, but every document, not only a sample, is scored by models that have not
        seen it: neighbours and words leave it out, the other scorers are trained without its fold.
        This takes longer in a corpus of over 6,000 documents.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        Y : sparse matrix or array-like of shape (n_samples, n_labels)
        incomplete : array of bool, optional
            As in ``fit``.

        Returns
        -------
        OutOfSample
            Scores of the candidates and the labels of every document; of an incomplete document,
            only of its labels.
        """
        self._scores_all_documents = True
        try:
            self.fit(X, Y, incomplete)
            out_of_sample: OutOfSample = self.__dict__.pop("_out_of_sample")
        finally:
            del self._scores_all_documents
        return out_of_sample

    def _propose_training(
        self, training: Training, scorers: list[Scorer]
    ) -> tuple[sparse.csr_array, Candidates, NDArray[np.bool_] | None]:
        """Candidates of all training documents, and `Candidates` of those that are held out.

        A quick training, and one of very many documents, proposes only the labels of sources for
        the others, or nothing if no scorer learns from that. If every document is to be scored,
        its labels are added to its candidates. The last array then marks the candidates that
        sources proposed without seeing the labels.
        """
        self.sources_ = [s for s in make_sources(self.sources) if s.wants(training)]
        everything = np.arange(len(training.documents))
        for source in self.sources_:
            source.fit(training)
        fitted = self.sources_
        if self.sources == "auto":
            trial = self.source_.trial
            self.sources_ = [s for s in fitted if s.is_worthwhile(trial)]
        given = training.Y if self._scores_all_documents else None
        learns = any(scorer.learns_from_candidates for scorer in scorers)
        if self.effort == "quick":
            is_large = bool(fitted) and len(everything) >= MANY
        else:
            is_large = self.effort == "normal" and len(everything) >= _VERY_MANY
            is_large = is_large and any(source.reaches_all for source in fitted)
        if given is None and (is_large or (self.effort == "quick" and not learns)):
            candidates, held = self._propose_quickly(training, fitted, scorers)
        else:
            proposals = [
                s.propose(training.shared, everything, self.n_jobs).pattern for s in self.sources_
            ]
            also = union(proposals) if proposals else None
            if self.effort == "quick" and given is None and len(everything) > 1.5 * GROUP:
                candidates, held = self._propose_in_groups(training, also)
            else:
                candidates, held = self.source_.propose_training(
                    training.shared, training.held, also, self.n_jobs, self.verbose, given
                )
        proposed = held.evidence.pop(PROPOSED, None)
        if training.incomplete is not None:
            # A label that is missing from an incomplete document is neither true nor false.
            candidates = training.known(candidates)
            kept = values_at(candidates, held.pattern) > 0
            held = held.keep(kept)
            proposed = None if proposed is None else proposed[kept]
        return candidates, replace(held, vocabulary=self.vocabulary), proposed

    def _propose_quickly(
        self, training: Training, fitted: list[CandidateSource], scorers: list[Scorer]
    ) -> tuple[sparse.csr_array, Candidates]:
        """Candidates without the neighbours of all documents, whose search takes longest."""
        held, n_jobs = training.held, self.n_jobs
        some = training.shared[held]
        # Vectors that have not seen these documents.
        some.cache = training.shared.cache
        also = [source.propose(some, held, n_jobs).pattern for source in self.sources_]
        proposed = self.source_.propose(some, held, n_jobs, union(also) if also else None)
        candidates = training.spread(proposed.pattern)
        if any(scorer.learns_from_candidates for scorer in scorers):
            # Linear models score the held-out documents' candidates when they train on them.
            # Without labels drawn at random, they would know only the most similar ones.
            asked = enough_documents(training)
            documents = (
                training.shared if asked.size == len(training.shared) else training.shared[asked]
            )
            documents.cache = training.shared.cache
            near = [source.propose(documents, asked, n_jobs).pattern for source in fitted]
            near = [training.spread(pattern, asked) for pattern in near]
            candidates = union([*near, candidates, random_labels(training)])
        return candidates, replace(proposed, neighbors=None)

    def _propose_in_groups(
        self, training: Training, also: sparse.csr_array | None
    ) -> tuple[sparse.csr_array, Candidates]:
        """Candidates of very many documents, without comparing all with all."""
        held, shared = training.held, training.shared
        proposed = self.source_.propose(
            shared[held], held, self.n_jobs, None if also is None else also[held]
        )
        near = self.source_.propose_in_groups(
            shared, GROUP, self.seed_, also, self.n_jobs, self.verbose
        )
        candidates = union([near, training.spread(proposed.pattern)])
        return candidates, replace(proposed, neighbors=None)

    def _combine(self, scorers: list[Scorer], held_out: HeldOut, Y_train: sparse.csr_array) -> None:
        """Learn the curves, keep the scorers that help, and write the report."""
        truth, parts, Y, known = held_out.truth, held_out.scores, held_out.Y, held_out.known
        protected = {s.name: s.name if s.is_needed else s.builds_on for s in scorers}
        # Labels that only documents of the fold have count as labels without documents.
        others, counts = held_out.counts, np.where(known, held_out.counts, 0)
        held_out = replace(held_out, counts=counts)
        kept, gain = choose_scorers(held_out, protected)
        combination = most_likely(held_out, kept)
        if self.objective != "likelihood":
            from manylabel.ensemble.ranking import rank_curves

            combination = rank_curves(held_out, combination, self.objective, Y_train)
            combination = stretch_curves(held_out, combination, self.objective, Y_train)
        combination = combination.calibrated(parts, counts, truth)
        combination = add_rivals(held_out, combination)
        self.combination_ = combination
        at_once = [
            s.name
            for s in scorers
            if s.learns_at_once and s.scores_new_labels and (s.name in kept or not s.searches)
        ]
        few, share = thinned(truth, CURVES)

        def cautious(names: list[str], counts: NDArray[np.int64]) -> Combination:
            """Curves for labels that appear later."""
            given = {name: parts[name][few] for name in names}
            return fit_combination(given, counts[few], truth[few], is_cautious=True, share=share)

        self.lazy_combination_ = cautious(at_once, others)
        self.scorers_ = {
            scorer.name: scorer
            for scorer in scorers
            if scorer.name in kept or scorer.name in at_once
        }
        named = [scorer.name for scorer in scorers if scorer.scores_unused_labels]
        self.bare_combination_ = self.lazy_combination_
        log_odds = combination.log_odds(parts, counts, held_out.candidates.pattern.indptr)
        if named:
            bare = cautious(named, counts).calibrated(parts, counts, truth)
            measure = "ndcg@5" if self.objective == "likelihood" else self.objective
            self.bare_combination_ = judge_unused_labels(held_out, bare, log_odds, measure, Y_train)
        log_odds = np.where(known, log_odds, self.bare_combination_(parts, counts))
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
            parts = self._scores_by_scorer(documents, candidates)
            scores = candidates.scores(expit(self._log_odds(candidates, parts)))
            if n_rows <= ROUND:
                return scores
            blocks.append(scores if top is None else keep_top(scores, top))
        if not blocks:
            return sparse.csr_array((0, self.n_labels_))
        return sparse.csr_array(sparse.vstack(blocks, "csr"))

    def scores_left_out(self, X: Any, numbers: ArrayLike) -> sparse.csr_array:
        """Score documents that were added after ``fit`` as if they had not been.

        Neighbours and words leave each document out. The scorers in ``frozen_parts_`` have never
        seen it.

        Parameters
        ----------
        X : sparse matrix, array-like or Documents
            The documents.
        numbers : array of int
            Their positions in the order in which ``fit`` and ``partial_fit`` received them.

        Returns
        -------
        csr_array of shape (n_documents, n_labels)
        """
        check_is_fitted(self)
        positions = np.asarray(numbers, np.int64)
        documents, candidates = self._candidates(
            self._checked_features(X, reset=False), self.n_jobs, positions
        )
        parts = self._scores_by_scorer(documents, candidates)
        own = values_at(self.source_.Y[positions], candidates.pattern).astype(np.int64)
        return candidates.scores(expit(self._log_odds(candidates, parts, own)))

    def _scores_by_scorer(
        self, documents: Documents, candidates: Candidates
    ) -> dict[str, NDArray[np.float64]]:
        return {
            name: scorer.score(documents, candidates, self.n_jobs)
            for name, scorer in self.scorers_.items()
        }

    def _candidates(
        self,
        X: sparse.csr_array | Documents,
        n_jobs: int | None,
        leave_out: NDArray[np.int64] | None = None,
    ) -> tuple[Documents, Candidates]:
        """Documents with weighted rows, and their candidates from all sources."""
        documents, also = Documents.of(X).weighted(self.weighting_), None
        documents.numbers = leave_out
        if self.sources_:
            also = union([s.propose(documents, leave_out, n_jobs).pattern for s in self.sources_])
        candidates = self.source_.propose(documents, leave_out, n_jobs, also)
        return documents, replace(candidates, vocabulary=self.vocabulary)

    @property
    def views_(self) -> frozenset[str]:
        """The views of documents that sources and scorers read, besides the counts."""
        check_is_fitted(self)
        return frozenset(each.view for each in self._sources_and_scorers()) - {"rows"}

    def _log_odds(
        self,
        candidates: Candidates,
        parts: dict[str, NDArray[np.float64]],
        own: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float64]:
        """The sum of all evidence; new labels use only scorers that learn at once.

        Labels without documents use only scorers of names: that no neighbour has such a label is no
        evidence against it.

        ``own`` is 1 where the document itself has the label and must not count.
        """
        counts = self.counts_[candidates.labels]
        if own is not None:
            counts = counts - own
        log_odds = self.combination_.log_odds(parts, counts, candidates.pattern.indptr)
        new = ~self.known_labels_[candidates.labels]
        if not new.any():
            return log_odds
        for which, combination in (
            (new & (counts > 0), self.lazy_combination_),
            (new & (counts == 0), self._unused_label_combination),
        ):
            if which.any():
                some = {name: values[which] for name, values in parts.items()}
                log_odds[which] = combination(some, counts[which])
        return log_odds

    @property
    def _unused_label_combination(self) -> Combination:
        """The curves for labels without documents; older model folders lack them."""
        return getattr(self, "bare_combination_", self.lazy_combination_)

    def _explaining(
        self, X: sparse.csr_array | Documents, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """Scores and reasons in one pass."""
        documents, candidates = self._candidates(X, 1)
        by_scorer = {
            name: scorer.explaining(documents, candidates) for name, scorer in self.scorers_.items()
        }
        parts = {name: scores for name, (scores, _) in by_scorer.items()}
        log_odds = self._log_odds(candidates, parts)
        counts = self.counts_[candidates.labels]
        sums, groups = self.combination_(parts, counts), frequency_group(counts)
        competition = self.combination_.competition(sums, candidates.pattern.indptr)
        slopes: dict[tuple[int, str], NDArray[np.float64]] = {}

        def slope(combination: Combination, name: str, position: int) -> float:
            key = id(combination), name
            if key not in slopes:
                slopes[key] = combination.curves[name].slopes(parts[name])
            return float(slopes[key][position])

        def explain(labels: NDArray[np.int64]) -> list[Explanation]:
            return [explained(label) for label in labels.tolist()]

        def explained(label: int) -> Explanation:
            position = candidates.position(label)
            assert position is not None
            combination = self.combination_
            if not self.known_labels_[label]:
                is_unused = self.counts_[label] == 0
                combination = (
                    self._unused_label_combination if is_unused else self.lazy_combination_
                )
            group = int(groups[position])
            reasons = [Reason("prior", float(combination.offsets[group]))]
            if combination.rivalry:
                reasons.append(Reason("rivals", -float(competition[0])))
            for name in combination.curves:
                scores, why = by_scorer[name]
                score = float(scores[position])
                factor = combination.factor(name, group) * slope(combination, name, position)
                below = _scaled(why(position), factor)
                if score or below:
                    scorer, share = self.scorers_[name], factor * score
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
            score = float(log_odds[position])
            return Explanation(
                0, label, score, tuple(reasons), float(expit(log_odds[[position]])[0])
            )

        return candidates.scores(expit(log_odds)), explain


def _scaled(reasons: Sequence[Reason], factor: float) -> Sequence[Reason]:
    """Reasons of a score that counts ``factor`` times, greatest share first."""
    if isinstance(reasons, ReasonsOnAccess):
        return reasons.scaled(factor)
    return tuple(sorted((r.scaled(factor) for r in reasons), key=lambda r: -r.share))


def _sentence(reasons: Sequence[Reason]) -> str:
    """The first sentence among the reasons; neighbours and words have none."""
    if isinstance(reasons, ReasonsOnAccess):
        return ""
    return next((reason.sentence for reason in reasons if reason.sentence), "")


def _pull(
    combination: Combination, name: str, scores: NDArray[np.float64], truth: NDArray[np.bool_]
) -> float:
    """Mean log-odds that a scorer adds to true candidates, minus those that it adds to others."""
    if name not in combination.curves or truth.all() or not truth.any():
        return 0.0
    values = combination.curves[name](scores)
    return float(values[truth].mean() - values[~truth].mean())

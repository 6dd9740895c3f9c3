"""Train phi, which all labelled topic models share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import check_random_state
from manylabel.exceptions import InputError, ParameterError
from manylabel.parallel import map_blocks
from manylabel.topics.schedule import (
    Progress,
    Schedule,
    check_inference,
    has_converged,
    sweep_progress,
    warn_if_rising,
)
from manylabel.topics.word_labels import WordLabels
from manylabel.validation import (
    check_labels,
    check_matrix,
    check_positive,
    check_real,
    check_same_rows,
)

__all__ = ["LabelledTraining", "draw_seed", "split_tokens", "train_phi"]


@dataclass(frozen=True)
class LabelledTraining:
    """Trained label-word distributions, to pass to several models.

    Parameters
    ----------
    word_labels : WordLabels
    log_likelihoods : tuple of float
        Log-likelihood per token after each sweep of the first chain.
    """

    word_labels: WordLabels
    log_likelihoods: tuple[float, ...]

    def __deepcopy__(self, memo: Any) -> LabelledTraining:
        """Itself: it is immutable, and `clone` need not copy it."""
        return self


@dataclass(frozen=True)
class _Problem:
    """A labelled corpus as arrays, and the model's constants."""

    doc_ptr: NDArray[np.int64]
    values: NDArray[np.float64]
    label_ptr: NDArray[np.int64]
    labels: NDArray[np.int32]
    slot_ptr: NDArray[np.int64]
    slots: NDArray[np.int32]
    pair_ptr: NDArray[np.int64]
    pair_labels: NDArray[np.int32]
    n_words: int
    n_labels: int
    eta: float
    alpha: float
    beta: float


def draw_seed(random_state: Any) -> int:
    """A seed for our own streams from scikit-learn's ``random_state``."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def split_tokens(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Where the tokens of each entry start, and their weight: an entry x is ceil(x) tokens.

    Examples
    --------
    >>> pointers, weights = split_tokens(np.array([2.0, 1.5]))
    >>> pointers.tolist(), weights.tolist()
    ([0, 2, 4], [1.0, 0.75])
    """
    n_tokens = np.ceil(values)
    return np.concatenate([[0], np.cumsum(n_tokens)]).astype(np.int64), values / n_tokens


def train_phi(
    X: Any,
    Y: Any,
    *,
    inference: str = "cgs",
    eta: float = 50.0,
    alpha_sum: float = 0.0,
    beta: float = 0.01,
    chains: int = 2,
    burn_in: int = 50,
    samples: int = 1,
    lag: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> LabelledTraining:
    """Learn how likely each word is under each label.

    A document's words go only to its own labels, so the cost depends on the labels per document,
    not on the number of labels. Documents without labels are ignored.

    Parameters
    ----------
    X : matrix of shape (n_documents, n_words)
        Counts, or non-negative weights.
    Y : indicator matrix of shape (n_documents, n_labels)
    inference : {"cgs", "cgs_p", "cvb0"}
        Collapsed Gibbs sampling; the same with full conditional distributions summed instead of
        draws counted; or deterministic expected counts.
    eta : float
        The prior weight that a document shares evenly among its labels (Rubin's alpha', eq. 1).
    alpha_sum : float
        The prior weight shared evenly among all labels, a document's own or not.
    beta : float
        The pseudo-count of each word under each label.
    chains, burn_in, samples, lag : int
        See :class:`Schedule`. Phi is averaged over all samples of all chains.
    random_state, n_jobs, verbose
        As in scikit-learn. Chains run in parallel; the result does not depend on ``n_jobs``.

    Examples
    --------
    >>> X = [[3, 1, 0], [0, 1, 2]]
    >>> trained = train_phi(X, [[1, 0], [0, 1]], beta=1.0, random_state=0)
    >>> trained.word_labels.toarray().round(2).tolist()
    [[0.57, 0.17], [0.29, 0.33], [0.14, 0.5]]
    """
    check_inference(inference)
    schedule = Schedule(chains, burn_in, samples, lag).check()
    check_real("eta", eta, 0.0)
    check_real("alpha_sum", alpha_sum, 0.0)
    check_positive("beta", beta)
    if eta + alpha_sum <= 0:
        raise ParameterError("`eta` and `alpha_sum` must not both be 0 in training.")
    X, Y = check_matrix(X), check_labels(Y)
    check_same_rows(X, Y)
    problem = _problem(X, Y, eta, alpha_sum / max(Y.shape[1], 1), beta)
    n_tokens = float(X.sum(axis=1)[np.diff(Y.indptr) > 0].sum())
    n_sweeps = schedule.sweeps * (1 if inference == "cvb0" else schedule.chains)
    with sweep_progress("Training", verbose, n_sweeps, n_tokens) as progress:
        if inference == "cvb0":
            trained, history = _expect(problem, schedule, n_tokens, progress)
        else:
            seed = draw_seed(random_state)
            trained, history = _sample(problem, schedule, inference, seed, n_jobs, progress)
    per_token = [value / n_tokens for value in history] if n_tokens else []
    warn_if_rising(per_token, "The training of phi")
    return LabelledTraining(trained, tuple(per_token))


def _problem(
    X: sparse.csr_array, Y: sparse.csr_array, eta: float, alpha: float, beta: float
) -> _Problem:
    """Number the (word, label) pairs that occur together, and lay the corpus out by them."""
    from manylabel.kernels import lda_pairs

    doc_ptr, label_ptr = X.indptr.astype(np.int64), Y.indptr.astype(np.int64)
    labels = Y.indices.astype(np.int32)
    by_word = sparse.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc()
    word_ptr = by_word.indptr.astype(np.int64)
    slot_ptr = np.concatenate([[0], np.cumsum(np.diff(doc_ptr) * np.diff(label_ptr))])
    pair_ptr = lda_pairs.count_pairs(word_ptr, by_word.indices, label_ptr, labels, Y.shape[1])
    if pair_ptr[-1] > np.iinfo(np.int32).max:
        raise InputError(
            f"X and Y have {pair_ptr[-1]:,} pairs of words and labels that occur together, but at "
            "most 2^31 - 1 are supported; leave out rare or frequent words."
        )
    pair_labels, slots = lda_pairs.fill_pairs(
        word_ptr,
        by_word.indices,
        by_word.data,
        label_ptr,
        labels,
        Y.shape[1],
        doc_ptr,
        slot_ptr,
        pair_ptr,
    )
    return _Problem(
        doc_ptr,
        X.data,
        label_ptr,
        labels,
        slot_ptr,
        slots,
        pair_ptr,
        pair_labels,
        X.shape[1],
        Y.shape[1],
        eta,
        alpha,
        beta,
    )


def _word_labels(
    problem: _Problem,
    pair_phi: NDArray[np.float64],
    smooth: NDArray[np.float64],
    tokens: NDArray[np.float64],
) -> WordLabels:
    return WordLabels(problem.pair_ptr, problem.pair_labels, pair_phi, smooth, tokens, problem.beta)


def _sample(
    problem: _Problem,
    schedule: Schedule,
    inference: str,
    seed: int,
    n_jobs: int | None,
    progress: Progress,
) -> tuple[WordLabels, list[float]]:
    """Average phi over the chains, added in order."""
    token_ptr, weights = split_tokens(problem.values)
    n_pairs, n_labels = problem.pair_labels.size, problem.n_labels
    total_phi, total_smooth = np.zeros(n_pairs), np.zeros(n_labels)
    total_tokens = np.zeros(n_labels)
    shared = (problem, token_ptr, weights, schedule, inference == "cgs_p", seed)
    histories = []
    for (pair_phi, smooth, tokens), history in map_blocks(
        _one_chain, shared, schedule.chains, 1, n_jobs, fixed=True, here={"progress": progress}
    ):
        total_phi += pair_phi
        total_smooth += smooth
        total_tokens += tokens
        histories.append(history)
    n = schedule.chains
    return _word_labels(problem, total_phi / n, total_smooth / n, total_tokens / n), histories[0]


def _one_chain(
    problem: _Problem,
    token_ptr: NDArray[np.int64],
    weights: NDArray[np.float64],
    schedule: Schedule,
    soft: bool,
    seed: int,
    chain: int,
    stop: int,
    progress: Progress | None = None,
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], list[float]]:
    """Run one chain: its mean phi in two parts, its mean tokens per label, and its history.

    A block is a single chain.
    """
    from manylabel.kernels import lda_gibbs, rng

    progress = progress or Progress(None, 0, 0.0)
    state = np.empty(1, np.uint64)
    rng.start_stream(state, np.uint64(seed), np.uint64(chain))
    # Narrow counts use the cache better, and float32 holds whole numbers exactly up to 2^24.
    exact = token_ptr[-1] < 2**24 and bool((weights == 1.0).all())
    count_dtype = np.float32 if exact else np.float64
    n_pairs, n_labels = problem.pair_labels.size, problem.n_labels
    pair_n, label_n = np.zeros(n_pairs, count_dtype), np.zeros(n_labels)
    pair_phi, smooth, tokens = np.zeros(n_pairs), np.zeros(n_labels), np.zeros(n_labels)
    soft_pair_n, soft_label_n = (
        (np.zeros(n_pairs), np.zeros(n_labels)) if soft else (pair_phi, smooth)
    )
    assigned = np.zeros(token_ptr[-1], np.int32)
    layout = (problem.label_ptr, problem.labels, problem.slot_ptr, problem.slots)
    corpus = (problem.doc_ptr, token_ptr, weights, *layout, assigned, pair_n, label_n)
    lda_gibbs.assign_at_random(*corpus, state)
    history = []
    for sweep in range(1, schedule.sweeps + 1):
        sampled = schedule.is_sample(sweep)
        if soft and sampled:
            soft_pair_n[:] = 0.0
            soft_label_n[:] = 0.0
        log_likelihood = lda_gibbs.sweep(
            *corpus,
            problem.eta,
            problem.alpha,
            problem.beta,
            problem.n_words,
            state,
            soft and sampled,
            soft_pair_n,
            soft_label_n,
        )
        if sampled:
            counts = (soft_pair_n, soft_label_n) if soft else (pair_n, label_n)
            _add_estimate(problem, counts, 1 / schedule.samples, pair_phi, smooth, tokens)
        history.append(log_likelihood)
        progress.swept(log_likelihood)
    return (pair_phi, smooth, tokens), history


def _add_estimate(
    problem: _Problem,
    counts: tuple[NDArray[Any], NDArray[np.float64]],
    share: float,
    pair_phi: NDArray[np.float64],
    smooth: NDArray[np.float64],
    tokens: NDArray[np.float64],
) -> None:
    """Add a share of the estimates that these counts give."""
    from manylabel.kernels import lda_gibbs

    pair_n, label_n = counts
    lda_gibbs.add_estimate(
        problem.pair_labels, pair_n, label_n, problem.beta, problem.n_words, share, pair_phi, smooth
    )
    tokens += share * label_n


def _expect(
    problem: _Problem, schedule: Schedule, n_tokens: float, progress: Progress
) -> tuple[WordLabels, list[float]]:
    """CVB0 until the log-likelihood settles."""
    from manylabel.kernels import lda_cvb0

    pair_n, label_n = np.zeros(problem.pair_labels.size), np.zeros(problem.n_labels)
    share = np.empty(problem.slots.size, np.float32)
    layout = (problem.label_ptr, problem.labels, problem.slot_ptr, problem.slots)
    corpus = (problem.doc_ptr, problem.values, *layout, share, pair_n, label_n)
    lda_cvb0.start(*corpus)
    history: list[float] = []
    for _ in range(schedule.sweeps):
        history.append(
            lda_cvb0.sweep(*corpus, problem.eta, problem.alpha, problem.beta, problem.n_words)
        )
        progress.swept(history[-1])
        if has_converged(history, n_tokens):
            break
    pair_phi, smooth = np.zeros(pair_n.size), np.zeros(label_n.size)
    tokens = np.zeros(label_n.size)
    _add_estimate(problem, (pair_n, label_n), 1.0, pair_phi, smooth, tokens)
    return _word_labels(problem, pair_phi, smooth, tokens), history

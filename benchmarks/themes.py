"""Documents drawn from a topic model, whose best possible ranking of labels is known.

A document has one *theme*. Its words come from three sources: all texts, the theme's topic, and the
theme itself. Its labels are drawn independently, each with a probability that depends on the theme
alone. So the posterior of the themes given the words is exact, and with it the probability of every
label: no method can rank labels better on average than `Themes.best`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Shares of a document's words that come from all texts, its topic and its theme.
SHARES = (0.6, 0.3, 0.1)
THEMES_PER_TOPIC = 40
#: Labels of one theme only, labels that the themes of a topic share, and how many of these a
#: theme takes.
OWN_LABELS, SHARED_LABELS, TAKEN = 10, 8, 2
TOPIC_WORDS, THEME_WORDS = 150, 25
#: The probability of a shared label.
SHARED_CHANCE = 0.3
#: Documents per batch; the drawn corpus depends on it.
BLOCK = 4096
#: Themes less probable than this count as impossible.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Size:
    """The size of a corpus.

    Parameters
    ----------
    train, test : int
        Documents.
    words, labels : int
        Distinct words and labels.
    length, cardinality : float
        Mean words and labels per document.
    """

    train: int
    test: int
    words: int
    labels: int
    length: float
    cardinality: float

    def scaled(self, scale: float) -> Size:
        """Documents and labels times ``scale``; distinct words grow with its square root."""
        return Size(
            round(self.train * scale),
            round(self.test * scale),
            round(self.words * scale**0.5),
            round(self.labels * scale),
            self.length,
            self.cardinality,
        )


@dataclass(frozen=True)
class Drawn:
    """Some documents: rows of word counts, rows of labels, and the theme of each."""

    X: sparse.csr_array
    Y: sparse.csr_array
    themes: NDArray[np.int64]


class Themes:
    """The topic model.

    Parameters
    ----------
    size : Size
    seed : int

    Attributes
    ----------
    prior : array of shape (n_themes,)
    background : array of shape (n_words,)
        Probabilities of words in all texts.
    topic_words, theme_words : arrays
        The words of each topic and of each theme; a word that occurs twice counts twice.
    topic_weights, theme_weights : arrays
        The probabilities of these words, the same for every topic and theme.
    labels : array of shape (n_themes, OWN_LABELS + TAKEN)
    chances : array of shape (OWN_LABELS + TAKEN,)
        The probability of each of these labels, before documents without any are drawn again.
    """

    def __init__(self, size: Size, seed: int = 0) -> None:
        rng = np.random.default_rng([seed, 0])
        self.size, self.seed = size, seed
        per_topic = THEMES_PER_TOPIC * OWN_LABELS + SHARED_LABELS
        self.n_topics = max(1, size.labels // per_topic)
        self.n_themes = max(1, (size.labels - self.n_topics * SHARED_LABELS) // OWN_LABELS)
        self.topic_of = np.minimum(
            np.arange(self.n_themes) // THEMES_PER_TOPIC, self.n_topics - 1
        ).astype(np.int64)
        self.prior = _falling(self.n_themes, 10.0, 0.5)[rng.permutation(self.n_themes)]
        self.background = _falling(size.words, 2.7, 1.05)
        # Words of topics are rarer than words of all texts, and words of themes rarer still.
        self.topic_words = _rare(rng, size.words, 0.005, (self.n_topics, TOPIC_WORDS))
        self.theme_words = _rare(rng, size.words, 0.02, (self.n_themes, THEME_WORDS))
        self.topic_weights = _falling(TOPIC_WORDS, 3.0, 1.0)
        self.theme_weights = _falling(THEME_WORDS, 3.0, 1.0)
        own = np.arange(self.n_themes)[:, None] * OWN_LABELS + np.arange(OWN_LABELS)
        first = self.n_themes * OWN_LABELS + self.topic_of * SHARED_LABELS
        taken = np.argsort(rng.random((self.n_themes, SHARED_LABELS)), axis=1)[:, :TAKEN]
        self.labels = np.hstack([own, first[:, None] + taken])
        self.n_labels = self.n_themes * OWN_LABELS + self.n_topics * SHARED_LABELS
        # Neighbouring numbers must not tell which labels belong together.
        self.labels = rng.permutation(self.n_labels)[self.labels]
        mean = (size.cardinality - TAKEN * SHARED_CHANCE) / OWN_LABELS
        slope = min(mean, 0.8 - mean)
        own_chances = np.linspace(mean + slope, mean - slope, OWN_LABELS)
        self.chances = np.append(own_chances, [SHARED_CHANCE] * TAKEN)

    @property
    def label_probabilities(self) -> NDArray[np.float64]:
        """The chances of labels of documents that have any."""
        return self.chances / (1 - np.prod(1 - self.chances))

    def draw(self, n: int, part: str = "train") -> Iterator[Drawn]:
        """The first ``n`` documents of a training or test set, in batches."""
        for number, start in enumerate(range(0, n, BLOCK)):
            rng = np.random.default_rng([self.seed, 1 + ["train", "test"].index(part), number])
            drawn = self._block(rng)
            stop = min(BLOCK, n - start)
            yield Drawn(drawn.X[:stop], drawn.Y[:stop], drawn.themes[:stop])

    def _block(self, rng: np.random.Generator) -> Drawn:
        themes = np.searchsorted(np.cumsum(self.prior), rng.random(BLOCK)).clip(
            max=self.n_themes - 1
        )
        lengths = 1 + rng.poisson(self.size.length - 1, BLOCK)
        rows = np.repeat(np.arange(BLOCK), lengths)
        source = rng.choice(3, rows.size, p=SHARES)
        words = np.empty(rows.size, np.int64)
        theme = themes[rows]
        words[source == 0] = _choose(rng, self.background, (source == 0).sum())
        for kind, table, weights, of in (
            (1, self.topic_words, self.topic_weights, self.topic_of[theme]),
            (2, self.theme_words, self.theme_weights, theme),
        ):
            mine = source == kind
            words[mine] = table[of[mine], _choose(rng, weights, mine.sum())]
        X = sparse.coo_array(
            (np.ones(rows.size, np.int32), (rows, words)), shape=(BLOCK, self.size.words)
        ).tocsr()
        X.sum_duplicates()
        given = rng.random((BLOCK, self.chances.size)) < self.chances
        while (empty := np.flatnonzero(~given.any(axis=1))).size:
            given[empty] = rng.random((empty.size, self.chances.size)) < self.chances
        which, place = np.nonzero(given)
        Y = sparse.coo_array(
            (np.ones(which.size, np.int8), (which, self.labels[themes[which], place])),
            shape=(BLOCK, self.n_labels),
        ).tocsr()
        Y.sort_indices()
        return Drawn(X, Y, themes)

    def posterior(self, X: sparse.csr_array) -> Iterator[tuple[NDArray, NDArray]]:
        """For each document the possible themes and their probabilities given its words."""
        topics, themes = self._evidence
        log_prior = np.log(self.prior)
        for start in range(0, X.shape[0], 64):
            rows = X[start : start + 64].astype(np.float64)
            scores = (rows @ topics.T).toarray()[:, self.topic_of]
            scores += (rows @ themes.T).toarray() + log_prior
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores /= scores.sum(axis=1, keepdims=True)
            for row in scores:
                possible = np.flatnonzero(row > NEGLIGIBLE)
                yield possible, row[possible]

    def best(self, X: sparse.csr_array, top: int = 5) -> tuple[NDArray, NDArray]:
        """The most probable labels of each document and their probabilities, best first."""
        chances = self.label_probabilities
        labels = np.full((X.shape[0], top), -1, np.int64)
        values = np.zeros((X.shape[0], top))
        for row, (themes, probabilities) in enumerate(self.posterior(X)):
            distinct, place = np.unique(self.labels[themes].ravel(), return_inverse=True)
            weight = (probabilities[:, None] * chances).ravel()
            marginal = np.bincount(place.ravel(), weight, distinct.size)
            order = np.lexsort((distinct, -marginal))[:top]
            labels[row, : order.size], values[row, : order.size] = distinct[order], marginal[order]
        return labels, values

    @property
    def _evidence(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Log-likelihood ratios of words: of topics to all texts, of themes to their topics."""
        everywhere, of_topic, of_theme = SHARES
        n = self.size.words
        topics = _weighted(self.topic_words, self.topic_weights, n)
        themes = _weighted(self.theme_words, self.theme_weights, n)
        keys = np.repeat(np.arange(self.n_topics), np.diff(topics.indptr)) * n + topics.indices
        wanted = self.topic_of[np.repeat(np.arange(self.n_themes), np.diff(themes.indptr))] * n
        wanted += themes.indices
        place = np.searchsorted(keys, wanted).clip(max=keys.size - 1)
        also = np.where(keys[place] == wanted, topics.data[place], 0.0)
        plain = everywhere * self.background
        themes.data = np.log1p(of_theme * themes.data / (plain[themes.indices] + of_topic * also))
        topics.data = np.log1p(of_topic * topics.data / plain[topics.indices])
        return topics, themes


def _falling(n: int, shift: float, exponent: float) -> NDArray[np.float64]:
    """Probabilities that fall with the rank."""
    weights = (np.arange(n) + shift) ** -exponent
    return weights / weights.sum()


def _rare(
    rng: np.random.Generator, n_words: int, share: float, shape: tuple[int, int]
) -> NDArray[np.int64]:
    """Words beyond a share of the most frequent ones."""
    return rng.integers(int(share * n_words), n_words, shape)


def _choose(rng: np.random.Generator, weights: NDArray, n: int) -> NDArray[np.int64]:
    """Places drawn by their weights."""
    return np.searchsorted(np.cumsum(weights), rng.random(n)).clip(max=weights.size - 1)


def _weighted(table: NDArray, weights: NDArray, n_words: int) -> sparse.csr_array:
    """Rows of word probabilities; a word that occurs twice gets the sum."""
    rows = np.repeat(np.arange(table.shape[0]), table.shape[1])
    data = np.tile(weights, table.shape[0])
    matrix = sparse.coo_array((data, (rows, table.ravel())), (table.shape[0], n_words)).tocsr()
    matrix.sum_duplicates()
    return matrix

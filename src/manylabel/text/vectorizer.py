"""Count the words of texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sized
from functools import cached_property, lru_cache
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.estimators import BaseEstimator, TransformerMixin, check_is_fitted
from manylabel.exceptions import InputError, ParameterError
from manylabel.progress import progress_bar
from manylabel.strings import StringArray
from manylabel.text.blocks import (
    NGRAM_MARK,
    Block,
    BlockCounter,
    Rows,
    map_in_order,
    split_blocks,
)
from manylabel.text.dictionaries import Dictionary, Merger
from manylabel.text.names import NameTable
from manylabel.text.words import WordRules, word_rules
from manylabel.validation import check_real, check_whole
from manylabel.wording import counted

__all__ = ["CountVectorizer"]

Result = TypeVar("Result")
# The rows of a block, and the corpus-wide number of each of its features.
_Placed = tuple[Rows, NDArray[np.int32]]


class CountVectorizer(TransformerMixin, BaseEstimator):
    """Count the words of texts in a sparse matrix with a sorted vocabulary.

    Words are runs of letters, digits, underscores and combining marks in any script; see
    :mod:`manylabel.text.words`. Without combining marks the counts are those of scikit-learn's
    ``CountVectorizer``. Texts are read once, as a stream, and the result is the same at any number
    of threads.

    Parameters
    ----------
    lowercase : bool, default=True
        Lower-case each word.
    min_length : int, default=2
        Minimum characters of a word as written; shorter ones are left out.
    stop_words : None, str or list of str, default=None
        Words to leave out: a language ("english" is scikit-learn's list; also danish, dutch,
        finnish, french, german, italian, norwegian, portuguese, spanish, swedish) or the words.
    stemming : None or str, default=None
        A language that Snowball has a stemmer for. Stop words are removed before stemming.
    ngram_range : (int, int), default=(1, 1)
        Minimum and maximum terms per feature. Terms separated only by stop words are adjacent.
    char_ngrams : None or (int, int), default=None
        Count character n-grams within words instead of words, with this minimum and maximum
        length: for short texts and inflected languages. A space marks the edge of a word, and
        counts as a character.
    whole_words : bool, default=False
        With ``char_ngrams``: count words too. The character n-grams then begin with "~".
    lead, lead_weight : int, default=0 and 1
        Each of the first ``lead`` words of a text, including stop words, counts ``lead_weight``
        times: for texts that begin with a title or a summary. So does an n-gram that begins with
        one of them; all n-grams must then have the same number of words.
    lead_only : bool, default=False
        Leave out what comes after the first ``lead`` words, and count these once. N-grams may
        then have different numbers of words.
    min_df, max_df : int or float, default=1 and 1.0
        Leave out features that occur in fewer, or more, documents than this: an int is a number of
        documents, a float a share of them.
    max_features : int, optional
        Keep the features with the highest counts; ties go to the first in the vocabulary.
    n_jobs : int, optional
        Threads; None is 1, -1 every core.
    verbose : bool or int, default=False
        Show progress.

    Attributes
    ----------
    vocabulary_ : dict
        Feature to column; columns are in the order of the features' code points.
    display_names_ : ndarray of str
        The most frequent written form of each column in the training texts, so that people read
        "running" and not "run". An n-gram shows each of its terms that way.

    Examples
    --------
    >>> vectorizer = CountVectorizer(stop_words="english", stemming="english")
    >>> counts = vectorizer.fit_transform(["A ship sails.", "Sailing ships, and a Ship"])
    >>> counts.toarray()
    array([[1., 1.],
           [1., 2.]])
    >>> vectorizer.get_feature_names_out().tolist(), vectorizer.display_names_.tolist()
    (['sail', 'ship'], ['sails', 'ships'])
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        min_length: int = 2,
        stop_words: str | Collection[str] | None = None,
        stemming: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        char_ngrams: tuple[int, int] | None = None,
        whole_words: bool = False,
        lead: int = 0,
        lead_weight: int = 1,
        lead_only: bool = False,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.lowercase = lowercase
        self.min_length = min_length
        self.stop_words = stop_words
        self.stemming = stemming
        self.ngram_range = ngram_range
        self.char_ngrams = char_ngrams
        self.whole_words = whole_words
        self.lead = lead
        self.lead_weight = lead_weight
        self.lead_only = lead_only
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, texts: Iterable[str], y: Any = None) -> CountVectorizer:
        """Learn the vocabulary.

        Parameters
        ----------
        texts : iterable of str
        y : ignored
        """
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> sparse.csr_array:
        """Learn the vocabulary and count.

        Returns
        -------
        counts : csr_array of shape (n_texts, n_features)
            float64, canonical.
        """
        counter = self._counter()
        return self._fit_blocks(self._read(texts, counter), counter.rules)

    def _fit_blocks(self, counted: Iterable[Block], rules: WordRules) -> sparse.csr_array:
        """Learn the vocabulary from counted blocks of texts, in their order."""
        self._check_limits()
        features, words = Merger(), Merger()
        blocks: list[_Placed] = []
        for block in counted:
            of_features, of_words = block.dictionaries()
            blocks.append((block.rows, features.add(of_features)))
            words.add(of_words)
        return self._fit_merged(blocks, features.finish(), words.finish(), rules)

    def _check_limits(self) -> None:
        """Check the parameters that decide which features to keep."""
        for name, value in (("min_df", self.min_df), ("max_df", self.max_df)):
            if isinstance(value, Integral):
                check_whole(name, value, 1)
            else:
                check_real(name, value, 0, 1)
        if self.max_features is not None:
            check_whole("max_features", self.max_features, 1)

    def _fit_merged(
        self, blocks: list[_Placed], features: Dictionary, words: Dictionary, rules: WordRules
    ) -> sparse.csr_array:
        """Learn the vocabulary from the merged dictionaries of blocks, and return the counts."""
        if not blocks:
            raise InputError("no texts to learn from; give at least one.")

        names = np.array(list(features.names), dtype=object)
        kept = self._select(sum(len(rows) for rows, _ in blocks), features.counts, names)
        display_names = names[kept]
        if self.char_ngrams is None or self.whole_words:
            shown = _most_written(list(words.names), words.counts[0], rules)
            for column, name in enumerate(names[kept]):
                if not name.startswith(NGRAM_MARK):
                    terms = (shown[term] for term in name.split(" "))
                    display_names[column] = " ".join(terms)
        self._set_names(dict(zip(names[kept], range(kept.size), strict=True)), display_names)
        columns = np.full(names.size, -1, np.int32)
        columns[kept] = np.arange(kept.size)

        def to_csr(block: _Placed) -> sparse.csr_array:
            rows, positions = block
            return rows.to_csr(columns[positions], kept.size)

        return sparse.vstack(list(map_in_order(to_csr, blocks, self.n_jobs)), format="csr")

    # A loaded vectorizer has the names as arrays, a fitted one as Python's strings. Each form is
    # made from the other when it is first used.

    def _set_names(self, vocabulary: dict[str, int], display_names: NDArray[np.object_]) -> None:
        """Set the columns of features, and the name to show for each."""
        for made in ("_names", "_shown", "name_table"):
            self.__dict__.pop(made, None)
        self.vocabulary_, self.display_names_ = vocabulary, display_names

    def _is_fitted(self) -> bool:
        return "_names" in vars(self) or "vocabulary_" in vars(self)

    @cached_property
    def vocabulary_(self) -> dict[str, int]:
        """Feature to column."""
        if not self._is_fitted():
            raise AttributeError("the vectorizer is not fitted; call fit first.")
        return dict(zip(self._names.tolist(), range(len(self._names)), strict=True))

    @cached_property
    def display_names_(self) -> NDArray[np.object_]:
        """The most frequent written form of each column."""
        if not self._is_fitted():
            raise AttributeError("the vectorizer is not fitted; call fit first.")
        return np.fromiter(self._shown.tolist(), object, len(self._shown))

    @cached_property
    def _names(self) -> StringArray:
        return StringArray(self.vocabulary_)

    @cached_property
    def _shown(self) -> StringArray:
        return StringArray(self.display_names_.tolist())

    @cached_property
    def name_table(self) -> NameTable:
        """Finds the column of a feature."""
        return NameTable(self._names)

    @property
    def shown_names(self) -> StringArray:
        """The same strings as in ``display_names_``."""
        return self._shown

    def _store_state(self) -> dict[str, Any]:
        state = self.get_params(deep=False)
        del state["verbose"]
        if self._is_fitted():
            state |= {"vocabulary_": self.vocabulary_, "display_names_": self.display_names_}
        return state

    #: Attributes that are loaded as arrays of strings, if they are long.
    _names_in_store: ClassVar[tuple[str, ...]] = ("vocabulary_", "display_names_")

    @classmethod
    def _from_store_state(cls, state: dict[str, Any]) -> CountVectorizer:
        names, shown = state.pop("vocabulary_", None), state.pop("display_names_", None)
        vectorizer = cls()
        vectorizer.__dict__.update(state)
        if names is None:
            return vectorizer
        if len(names) != len(shown):
            raise ValueError("each feature must have a name to show")
        if isinstance(names, StringArray) and isinstance(shown, StringArray):
            vectorizer._names, vectorizer._shown = names, shown
        else:
            if not isinstance(names, dict):
                names = dict(zip(names, range(len(names)), strict=True))
            if list(names.values()) != list(range(len(names))):
                raise ValueError("features must be in the order of their columns")
            vectorizer._set_names(names, np.fromiter(shown, object, len(shown)))
        return vectorizer

    def transform(self, texts: Iterable[str]) -> sparse.csr_array:
        """Count the words of texts; words that are not in the vocabulary are left out.

        Parameters
        ----------
        texts : iterable of str

        Returns
        -------
        counts : csr_array of shape (n_texts, n_features)
            float64, canonical.
        """
        check_is_fitted(self, "vocabulary_")
        n_columns = len(self.vocabulary_)
        counter = self._counter()

        def count(texts: list[str]) -> sparse.csr_array:
            block = counter(texts)
            positions = [self.vocabulary_.get(feature, -1) for feature in block.features]
            return block.rows.to_csr(np.array(positions, np.int32), n_columns)

        if isinstance(texts, list) and len(texts) == 1:
            # The fast path for a server, which counts one text at a time.
            return count(*split_blocks(texts))
        blocks = list(self._read(texts, count))
        return sparse.vstack(blocks or [sparse.csr_array((0, n_columns))], format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The features in the order of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def forget_features(self, columns: NDArray[np.int64]) -> None:
        """Remove the names of some features; their columns stay, and no longer count anything.

        Parameters
        ----------
        columns : ndarray of int

        Examples
        --------
        >>> vectorizer = CountVectorizer().fit(["a secret name", "a name"])
        >>> vectorizer.forget_features(np.array([1]))
        >>> vectorizer.transform(["secret name"]).toarray(), list(vectorizer.display_names_)
        (array([[1., 0.]]), ['name', '(forgotten)'])
        """
        check_is_fitted(self, "vocabulary_")
        gone = set(columns.tolist())
        if not gone:
            return
        # No word starts with this character, so the names cannot match.
        vocabulary = {
            f"\0{column}" if column in gone else name: column
            for name, column in self.vocabulary_.items()
        }
        display_names = self.display_names_.copy()
        display_names[columns] = "(forgotten)"
        self._set_names(vocabulary, display_names)

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _counter(self) -> BlockCounter:
        """A counter with the parameters, checked."""
        given: Any = (
            self.lowercase, self.stop_words, self.stemming, self.min_length, self.ngram_range,
            self.char_ngrams, self.whole_words, self.lead, self.lead_weight, self.lead_only,
        )  # fmt: skip
        try:
            return _counter(*given)
        except TypeError:
            # Lists cannot be cached.
            return _counter.__wrapped__(*given)

    def _read(self, texts: Iterable[str], work: Callable[[list[str]], Result]) -> Iterator[Result]:
        """Results of ``work`` on each block of texts, in order, with a progress bar."""
        if isinstance(texts, str):
            raise InputError("texts must be a list of str, one per document; got a single str.")
        total = len(texts) if isinstance(texts, Sized) else 0
        with progress_bar("Counting words", self.verbose) as callback:
            done = 0
            for result, size in map_in_order(
                lambda block: (work(block), len(block)), split_blocks(texts), self.n_jobs
            ):
                done += size
                if callback is not None:
                    callback(done, max(total, done))
                yield result

    def _select(
        self, n_documents: int, counts: NDArray[np.int64], names: NDArray[np.object_]
    ) -> NDArray[np.int64]:
        """The positions of the features to keep, sorted by name."""
        documents, occurrences = counts
        seen = documents > 0
        fewest = self.min_df if isinstance(self.min_df, Integral) else self.min_df * n_documents
        most = self.max_df if isinstance(self.max_df, Integral) else self.max_df * n_documents
        kept = np.flatnonzero(seen & (documents >= fewest) & (documents <= most))
        if kept.size == 0:
            raise InputError(self._nothing_left(int(seen.sum()), n_documents))
        kept = kept[np.argsort(names[kept], kind="stable")]
        if self.max_features is not None:
            best = np.argsort(-occurrences[kept], kind="stable")[: self.max_features]
            kept = kept[np.sort(best)]
        return kept

    def _nothing_left(self, n_features: int, n_documents: int) -> str:
        documents = counted(n_documents, "document")
        if n_features:
            return (
                f"the vocabulary is empty: none of {counted(n_features, 'feature')} occurs in "
                f"`min_df`={self.min_df} to `max_df`={self.max_df} of {documents}; "
                "lower `min_df` or raise `max_df`."
            )
        return (
            f"the vocabulary is empty: {documents} without a word of at least "
            f"{counted(self.min_length, 'character')} that is not a stop word; give other texts, "
            "lower `min_length` or drop `stop_words`."
        )


@lru_cache(maxsize=16, typed=True)
def _counter(
    lowercase: bool,
    stop_words: str | Collection[str] | None,
    stemming: str | None,
    min_length: int,
    ngram_range: tuple[int, int],
    char_ngrams: tuple[int, int] | None,
    whole_words: bool,
    lead: int,
    lead_weight: int,
    lead_only: bool,
) -> BlockCounter:
    """A cached counter with these parameters, which keeps the stems of earlier texts."""
    check_whole("min_length", min_length, 1)
    words = _check_range("ngram_range", ngram_range)
    characters = None
    if char_ngrams is not None:
        characters = _check_range("char_ngrams", char_ngrams)
        if words != (1, 1):
            raise ParameterError(
                "`char_ngrams` counts character n-grams of words, so `ngram_range` must be "
                f"(1, 1); got {words}."
            )
    check_whole("lead", lead, 0)
    check_whole("lead_weight", lead_weight, 1)
    if lead and not lead_only and words[0] != words[1]:
        raise ParameterError(
            "`lead` needs features of one length, so `ngram_range` must be a pair of equal "
            f"numbers, such as (1, 1); got {words}."
        )
    if lead_only and not lead:
        raise ParameterError(
            "`lead_only` leaves out what comes after the first `lead` words, so `lead` must be at "
            "least 1; got 0."
        )
    rules = word_rules(lowercase, stop_words, stemming)
    return BlockCounter(
        rules, min_length, words, characters, whole_words, lead, lead_weight, lead_only
    )


def _check_range(name: str, value: Any) -> tuple[int, int]:
    """Check a pair of integers, 1 <= low <= high."""
    try:
        low, high = value
        if 1 <= check_whole(name, low, 1) <= check_whole(name, high, 1):
            return int(low), int(high)
    except (TypeError, ValueError):
        pass
    raise ParameterError(
        f"`{name}` must be a pair of whole numbers, 1 <= minimum <= maximum; got {value!r}."
    )


def _most_written(words: list[str], totals: NDArray[np.int64], rules: WordRules) -> dict[str, str]:
    """The most frequent word of each term.

    Ties go to the last word in the order of code points, which prefers "ship" to "Ship".
    """
    by_name = sorted(range(len(words)), key=words.__getitem__)
    rising = [words[by_name[i]] for i in np.argsort(totals[by_name], kind="stable")]
    return dict(zip(rules.terms(rising), rising, strict=True))

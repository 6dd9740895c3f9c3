"""Suggest labels for millions of documents, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.corpus import Corpus
from manylabel.distributed.cluster import Cluster, FatalTaskError, Finished
from manylabel.distributed.spool import digest_of
from manylabel.distributed.tasks import Receipt
from manylabel.exceptions import ManylabelError
from manylabel.store import read_manifest
from manylabel.tagger import Suggestion, Suggestions, Tagger

__all__ = ["AnsweredBatch", "Failure", "suggest_batches"]


class Failure(NamedTuple):
    """A document that could not be tagged, and why."""

    id: str
    reason: str


@dataclass(frozen=True)
class AnsweredBatch:
    """The suggestions for one batch.

    Parameters
    ----------
    number : int
        The number of the batch, from 0.
    suggestions : list of Suggestions
        In the order of the documents, without those that failed.
    failures : list of Failure
    content : str
        A hash of the documents of the batch.
    receipt : Receipt or None
        The worker's report; None if an earlier run finished the batch.
    """

    number: int
    suggestions: list[Suggestions]
    failures: list[Failure]
    content: str
    receipt: Receipt | None

    def to_json(self) -> dict[str, Any]:
        """The batch's entry in a manifest."""
        return {
            "batch": self.number,
            "documents": len(self.suggestions) + len(self.failures),
            "content": self.content,
            "failed": [failure._asdict() for failure in self.failures],
            "seconds": None if self.receipt is None else round(self.receipt.seconds, 3),
            "worker": None if self.receipt is None else self.receipt.worker,
        }


class _Answers(NamedTuple):
    """Suggestions of a batch as arrays, best first; documents that failed have none."""

    lengths: NDArray[np.int64]
    columns: NDArray[np.int32]
    scores: NDArray[np.float64]
    failed: list[int]
    reasons: list[str]


#: A batch as sent to a worker: texts, or rows of features with the names of their columns.
_Item = tuple[list[str] | None, sparse.csr_array | None, list[str] | None, bool]


def suggest_batches(
    cluster: Cluster,
    tagger: Tagger,
    batches: Iterable[Corpus],
    top: int | None = 5,
    threshold: float | str | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
) -> Iterator[AnsweredBatch]:
    """Suggest labels for batches of documents, in order.

    Only a few batches are in memory at a time. A document that fails every time is reported; the
    others get their suggestions.

    Parameters
    ----------
    cluster : Cluster
        If its spool is kept, batches that an earlier run finished are not repeated.
    tagger : Tagger
    batches : iterable of Corpus
        For example a thousand documents each: a few seconds of work.
    top, threshold, include, exclude
        As for `Tagger.suggest`.
    """
    names = None if include is None else sorted(include)
    others = None if exclude is None else sorted(exclude)
    shared = (_folder_of(tagger) or tagger, top, threshold, names, others)
    known = tagger._latest().labels
    labels = known.listed
    label_names = [known.name(label) for label in labels]
    waiting: list[Corpus] = []

    def items() -> Iterator[_Item]:
        for corpus in batches:
            waiting.append(corpus)
            yield _item_of(corpus)

    finished = cluster.run(_suggest_batch, shared, items(), keep_going=True)
    for number, (result, receipt, error) in enumerate(finished):
        corpus = waiting.pop(0)
        if error is None:
            answers = _Answers(*result)
        else:
            answers = _halved(cluster, shared, _item_of(corpus), len(corpus), error)
        yield _answered(number, corpus, answers, labels, label_names, receipt)


def _folder_of(tagger: Tagger) -> Path | None:
    """The folder of the tagger in its current state; None if it is not saved, or has changed."""
    state = tagger._latest()
    if tagger.path is None:
        return None
    saved = read_manifest(tagger.path)["info"].get("tagger")
    now = {"token": state.token, "sequence": state.sequence}
    return tagger.path if saved == now else None


def _item_of(corpus: Corpus) -> _Item:
    texts = corpus.full_texts
    if texts is not None:
        return texts, None, None, corpus.sized
    return None, corpus.X, corpus.feature_names if corpus.has_feature_names else None, corpus.sized


def _corpus_of(item: _Item, rows: slice) -> Corpus:
    """Some documents of a batch."""
    texts, X, names, sized = item
    if texts is not None:
        some = texts[rows]
        return Corpus.from_texts(some, [[]] * len(some))
    assert X is not None
    no_labels = sparse.csr_array((X[rows].shape[0], 1), dtype=np.int8)
    return Corpus(X[rows], no_labels, feature_names=names, sized=sized)


def _suggest_batch(
    tagger: Tagger,
    top: int | None,
    threshold: float | str | None,
    include: list[str] | None,
    exclude: list[str] | None,
    *item: Any,
) -> tuple[Any, ...]:
    """Suggest labels for a batch; if it fails, try document by document."""
    # One thread: other batches run at the same time.
    tagger._fitted().use_jobs(1)

    def answers(rows: slice) -> list[Suggestions]:
        return tagger.suggest(_corpus_of(item, rows), top, threshold, include, exclude)

    failed: list[int] = []
    reasons: list[str] = []
    try:
        suggested = answers(slice(None))
    except ManylabelError:
        raise
    except Exception:
        suggested = []
        for row in range(_size_of(item)):
            try:
                suggested += answers(slice(row, row + 1))
            except Exception as error:
                failed.append(row)
                reasons.append(f"{type(error).__name__}: {error}")
    columns = {label: column for column, label in enumerate(tagger.labels)}
    return (
        np.array([len(each) for each in suggested], np.int64),
        np.array([columns[label] for each in suggested for label, _, _ in each], np.int32),
        np.array([score for each in suggested for _, score, _ in each], np.float64),
        failed,
        reasons,
    )


def _size_of(item: Any) -> int:
    return len(item[0]) if item[0] is not None else item[1].shape[0]


def _halved(
    cluster: Cluster, shared: tuple[Any, ...], item: _Item, size: int, error: Exception
) -> _Answers:
    """Retry a batch that kills every worker in halves, down to single documents.

    Dask also blames tasks that wait on a worker that dies. So halves run one after the other, and a
    single document is only blamed if it fails again.
    """
    if not isinstance(error, FatalTaskError):
        raise error
    if size == 1:
        result, _, failure = _alone(cluster, shared, item)
        if failure is None:
            return _Answers(*result)
        nothing = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
        return _Answers(*nothing, [0], ["every worker that ran it died without a message"])
    middle = size // 2
    parts = []
    for rows, n in ((slice(middle), middle), (slice(middle, None), size - middle)):
        half = _item_of(_corpus_of(item, rows))
        result, _, failure = _alone(cluster, shared, half)
        if failure is None:
            parts.append(_Answers(*result))
        else:
            parts.append(_halved(cluster, shared, half, n, failure))
    first, second = parts
    return _Answers(
        np.concatenate([first.lengths, second.lengths]),
        np.concatenate([first.columns, second.columns]),
        np.concatenate([first.scores, second.scores]),
        [*first.failed, *(middle + row for row in second.failed)],
        [*first.reasons, *second.reasons],
    )


def _alone(cluster: Cluster, shared: tuple[Any, ...], item: _Item) -> Finished:
    """The outcome of one task."""
    (finished,) = cluster.run(_suggest_batch, shared, [item], keep_going=True)
    return finished


def _answered(
    number: int,
    corpus: Corpus,
    answers: _Answers,
    labels: list[str],
    names: list[str],
    receipt: Receipt | None,
) -> AnsweredBatch:
    """Add the names of labels and documents to the answers."""
    failed = set(answers.failed)
    ids = [name for row, name in enumerate(corpus.ids) if row not in failed]
    ends = np.cumsum(answers.lengths)
    columns, scores = answers.columns.tolist(), answers.scores.tolist()
    suggestions = [
        Suggestions(
            [
                Suggestion(labels[columns[position]], scores[position], names[columns[position]])
                for position in range(stop - length, stop)
            ],
            name,
        )
        for name, stop, length in zip(ids, ends.tolist(), answers.lengths.tolist(), strict=True)
    ]
    failures = [
        Failure(corpus.ids[row], reason)
        for row, reason in zip(answers.failed, answers.reasons, strict=True)
    ]
    return AnsweredBatch(number, suggestions, failures, digest_of(_item_of(corpus)), receipt)

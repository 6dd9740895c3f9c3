"""Evaluate a tagger, audit its documents, and choose what to label next."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from manylabel.corpus import Corpus
from manylabel.corpus.conversion import as_corpus
from manylabel.corpus.vocabulary import union
from manylabel.exceptions import InputError, ParameterError
from manylabel.predictions import keep_top, values_at
from manylabel.progress import Clock
from manylabel.tagger.changes import Change, documents_of
from manylabel.tagger.documents import indicator, widened
from manylabel.tagger.drift import Drift, drift_of
from manylabel.tagger.languages import make_vectorizer, text_language
from manylabel.tagger.persistence import Persistent
from manylabel.tagger.suggestions import Suggestions, suggestions
from manylabel.tagger.training import count_corpus
from manylabel.validation import check_incomplete, check_texts, check_whole

if TYPE_CHECKING:
    from manylabel.audit.report import AuditReport
    from manylabel.metrics import CoverageCurve

__all__ = ["ORDERS", "Quality"]

#: The orders in which `next` proposes documents.
ORDERS = ("auto", "coverage", "words", "uncertainty")


class Quality(Persistent):
    """The methods of a tagger that judge its suggestions and the labels that people gave."""

    language: str | None
    vectorizer: Any

    @abstractmethod
    def _new_estimator(self) -> Any:
        """Make the model, not fitted."""

    def evaluate(
        self, texts: Any, labels: Any = None, metrics: Iterable[str] | None = None
    ) -> dict[str, float]:
        """Measure suggestions against the labels that people gave.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str
            Labels that the tagger does not know count as missed.
        metrics : list of str, optional
            Names from ``manylabel.metrics.MEASURES``; by default all.

        Returns
        -------
        dict of str to float
        """
        from manylabel.metrics import evaluate, get_measure

        corpus = as_corpus(texts, labels)
        if corpus.Y.nnz == 0:
            raise InputError(
                "no document has a label to compare suggestions with; "
                "give documents whose labels are known."
            )
        with self._reading() as state:
            corpus = state.labels.identified(corpus)
            documents = state.read_corpus(corpus)
            scores = state.scores(documents)
            given = state.given(documents, scores)
            names = union([state.labels.listed, corpus.label_names])
            Y_train = state.documents.label_matrix(len(names))
        if not Y_train.shape[0]:
            # A model of a vocabulary alone.
            Y_train = None
            metrics = None if metrics is None else list(metrics)
            for name in metrics or []:
                if "train" in get_measure(name).needs:
                    raise InputError(
                        f"{name} compares with training documents, and the model has none; "
                        "leave the measure out, or train with documents."
                    )
        return evaluate(
            corpus.align_to(names).Y,
            widened(scores, len(names)),
            widened(given, len(names)),
            Y_train=Y_train,
            metrics=metrics,
        )

    def unseen(self, texts: Any, labels: Any = None) -> dict[str, int]:
        """Count the true labels that no training document has.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str

        Returns
        -------
        dict of str to int
            ``true``: all labels of the documents; ``unseen``: those that no training document has.
            Of the unseen labels, ``suggested`` are among the first 10 suggestions, and ``unknown``
            are not in the model's vocabulary either.
        """
        corpus = as_corpus(texts, labels)
        with self._reading() as state:
            corpus = state.labels.identified(corpus)
            n_labels, listed = state.n_labels, state.labels.listed
            names = union([listed, corpus.label_names])
            Y = corpus.align_to(names).Y
            seen = np.zeros(len(names), np.bool_)
            seen[state.documents.label_matrix(n_labels).indices] = True
            unseen = ~seen[Y.indices]
            suggested = 0
            if (unseen & (Y.indices < n_labels)).any():
                scores = widened(state.scores(state.read_corpus(corpus), 10), len(names))
                suggested = int((values_at(keep_top(scores, 10), Y)[unseen] > 0).sum())
        return {
            "true": int(Y.nnz),
            "unseen": int(unseen.sum()),
            "suggested": suggested,
            "unknown": int((Y.indices >= n_labels).sum()),
        }

    def coverage_curve(self, texts: Any, labels: Any = None) -> CoverageCurve:
        """Measure, for each threshold, precision and the share of documents that get labels.

        Parameters
        ----------
        texts : list of str, Corpus or path
        labels : list of lists of str
        """
        from manylabel.metrics import coverage_curve

        corpus = as_corpus(texts, labels)
        with self._reading() as state:
            corpus = state.labels.identified(corpus)
            scores = state.scores(state.read_corpus(corpus))
            names = union([state.labels.listed, corpus.label_names])
        return coverage_curve(corpus.align_to(names).Y, widened(scores, len(names)))

    @property
    def n_learned(self) -> int:
        """The number of documents learned since the training and not forgotten."""
        with self._reading() as state:
            return int(state.learned_since().size)

    def drift(self) -> Drift:
        """Compare the model's probabilities with the labels that people gave since the training.

        Every document learned since then is scored as if it were unknown. If the probabilities
        hold, four in five of the labels with a probability of 0.8 were given. Training documents
        whose labels or texts were changed are counted, but not compared: the training has seen
        them.

        Returns
        -------
        Drift

        Examples
        --------
        >>> from manylabel import Tagger
        >>> from manylabel.corpus import load_catalogue
        >>> tagger = Tagger(parameters={"scorers": ["neighbours", "words"]})
        >>> test = load_catalogue("test")
        >>> _ = tagger.fit(load_catalogue("train"))
        >>> _ = tagger.learn(test.texts[:60], list(test.label_lists())[:60])
        >>> report = tagger.drift()
        >>> report.n_documents, report.n_trained, report.is_significant
        (60, 489, False)
        """
        from manylabel.metrics.calibration import calibration_of

        with self._reading() as state:
            since = state.learned_since()
            n_trained = len(state.documents) - since.size
            # Labels that an incomplete document lacks were neither accepted nor rejected.
            are_open = state.documents.flags(since)
            judged = np.ones(since.size, np.bool_) if are_open is None else ~are_open
            known = state.known_to_training(since)
            numbers, n_changed = since[judged & ~known], int(known.sum())
            if not numbers.size:
                nothing = calibration_of(np.empty(0), np.empty(0))
                return Drift(0, n_trained, 0.0, 0.0, 0.0, nothing, n_changed)
            if not state.model.can_leave_out:
                raise InputError(
                    f"the scores of {self.model_name} are not probabilities, so there is nothing "
                    "to compare; use an ensemble."
                )
            if state.vectorizer is None or not state.keep_texts:
                raise InputError(
                    "the texts were not kept, so there is nothing to compare; train again and "
                    "keep them."
                )
            texts = [state.documents.text(number) for number in numbers.tolist()]
            scores = state.model.scores_left_out(state.read(texts)[0], numbers)
            truth = indicator(map(state.documents.labels, numbers.tolist()), state.n_labels)
        return drift_of(scores, truth, n_trained, n_changed)

    def audit(self, texts: Any = None, labels: Any = None, top: int = 100) -> AuditReport:
        """Find labels that look wrong or missing, with reasons.

        Models that have not seen a document judge every label that it has, or that other documents
        suggest for it; see `manylabel.audit`. This trains an ensemble and takes longer than `fit`.

        Parameters
        ----------
        texts : list of str, Corpus or path, optional
            By default the tagger's own documents. Other documents are audited by themselves: the
            tagger need not be fitted, and learns nothing from them.
        labels : list of lists of str
        top : int, default=100
            Maximum labels to report.

        Returns
        -------
        AuditReport

        Examples
        --------
        >>> from manylabel import Tagger
        >>> from manylabel.corpus import load_catalogue
        >>> tagger = Tagger(parameters={"scorers": ["neighbours", "words"]})
        >>> report = tagger.audit(load_catalogue("train"), top=3)
        >>> len(report), abs(sum(report[0].reasons.values())) > 0
        (3, True)
        """
        from manylabel.audit import audit
        from manylabel.audit.report import report_of
        from manylabel.ensemble import Ensemble

        check_whole("top", top, 1)
        shown: dict[str, str] = {}
        incomplete = None
        if texts is None:
            with self._reading() as state:
                corpus = state.corpus()
                incomplete = state.documents.incomplete()
                documents = state.read_corpus(corpus)
                shown = {label: state.labels.name(label) for label in corpus.label_names}
        else:
            corpus = as_corpus(texts, labels)
            language = text_language(self.language, corpus, None)
            vectorizer = make_vectorizer(language, self.vectorizer, self.n_jobs, self.verbose)
            documents = count_corpus(corpus, vectorizer, None, Clock()).documents
        estimator = self._new_estimator()
        if not isinstance(estimator, Ensemble):
            estimator = Ensemble(n_jobs=self.n_jobs, verbose=self.verbose)
        judged = audit(documents, corpus.Y, estimator, incomplete=incomplete)
        return report_of(judged, top, corpus.ids, corpus.full_texts, corpus.label_names, shown)

    def next(
        self, texts: Any, n: int = 20, top: int = 10, *, by: str = "auto"
    ) -> list[Suggestions]:
        """Choose the documents to label next.

        Parameters
        ----------
        texts : list of str, Corpus or path
            Documents to choose from; their labels are ignored.
        n : int, default=20
            The number of documents to choose.
        top : int, default=10
            Maximum labels to suggest per document.
        by : {"auto", "coverage", "words", "uncertainty"}
            "auto": "words" for texts with fewer than 30 different words on average, "coverage" for
            longer ones.
            "coverage": the documents that represent most others, as long as neither the tagger's
            documents nor those chosen before do. That helped with laws, not with titles. Models
            other than an ensemble only avoid what was chosen before.
            "words": those with frequent words that few of the tagger's documents have. That helped
            with titles, not with laws.
            "uncertainty": those about whose labels the tagger is least sure, unlike each other. A
            model whose scores are no probabilities does not know how sure it is.

        Returns
        -------
        list of Suggestions
            For the chosen documents, in the order in which to label them. Their ``id`` is that of
            the document or, if it has none, its position in ``texts``.

        Examples
        --------
        >>> from manylabel import Tagger
        >>> from manylabel.corpus import load_catalogue
        >>> tagger = Tagger(parameters={"scorers": ["neighbours", "words"]})
        >>> tagger.fit(load_catalogue("train"))
        <Tagger: ensemble, 489 documents, 130 labels>
        >>> len(tagger.next(load_catalogue("test"), n=3))
        3
        """
        from manylabel.audit import (
            SHORT,
            choose_by_words,
            choose_next,
            most_uncertain,
            uncertainty,
        )
        from manylabel.ensemble import Ensemble
        from manylabel.text import make_weighting

        check_whole("n", n, 1)
        check_whole("top", top, 1)
        if by not in ORDERS:
            raise ParameterError(f"`by` must be {', '.join(ORDERS)}; got {by!r}.")
        if isinstance(texts, str | os.PathLike):
            from manylabel.corpus import read

            texts = read(texts)
        if not isinstance(texts, Corpus):
            texts = list(texts)
        with self._reading() as state:
            if by == "uncertainty" and not state.model.gives_probabilities:
                raise InputError(
                    f"{self.model_name} gives no probabilities to be unsure of: choose by "
                    "coverage, or train an ensemble."
                )
            documents, ids = state.read(texts)
            scores, counts = state.scores(documents), documents.counts
            near = known = None
            if by == "auto":
                by = "words" if counts.nnz < SHORT * counts.shape[0] else "coverage"
            if isinstance(state.model, Ensemble):
                rows = state.model.weighting_.transform(counts)
                nearest = state.model.source_.search(rows, self.n_jobs)
                near = None if nearest is None else np.maximum(nearest.similarities[:, 0], 0)
                index = state.model.source_.index
                if index is not None and by == "words":
                    known = np.bincount(index.rows().indices, minlength=rows.shape[1])
            else:
                rows = make_weighting("tfidf").fit_transform(counts)
            if by == "coverage":
                chosen = choose_next(rows, n, near, self.n_jobs)
            elif by == "words":
                chosen = choose_by_words(rows, n, known)
            else:
                chosen = most_uncertain(uncertainty(scores), rows, n, near)
            names = [str(row) for row in chosen] if ids is None else [ids[row] for row in chosen]
            return list(suggestions(keep_top(scores[chosen], top), state.labels, names))

    def fix(
        self, decisions: Iterable[Mapping[str, str]], *, incomplete: bool = False
    ) -> tuple[Change, list[dict[str, str]]]:
        """Add and remove labels of known documents, as people have decided.

        Parameters
        ----------
        decisions : iterable of mapping
            Each with the ``id`` of a document, a ``label``, and a ``decision``: "add", "remove" or
            "keep"; see `read_decisions`. With a ``text``, the document may be new. Other labels do
            not change, so several people can decide at the same time.
        incomplete : bool, default=False
            Whether the other labels of new documents are unknown; see `Tagger.learn`. Known
            documents keep their flag.

        Returns
        -------
        change : Change
            What was learned.
        undo : list of dict
            The decisions that undo the change. New documents stay, without labels; `forget`
            removes them.

        Examples
        --------
        >>> from manylabel import Tagger
        >>> tagger = Tagger("lcif").fit(["a cat", "a dog"], [["cats"], ["cats"]], ids=["1", "2"])
        >>> change, undo = tagger.fix([{"id": "2", "label": "dogs", "decision": "add"}])
        >>> tagger.document("2").labels, undo
        (['cats', 'dogs'], [{'id': '2', 'label': 'dogs', 'decision': 'remove'}])
        """
        from manylabel.audit.report import decided

        with self._writing() as (state, write):
            if not state.model.can_learn:
                raise InputError(
                    f"{self.model_name} cannot learn single documents; change the labels in the "
                    "corpus and train again."
                )
            if state.vectorizer is None or not state.keep_texts:
                raise InputError(
                    "the texts of this model's documents were not kept; change the labels in the "
                    "corpus and train again."
                )

            def labels_of(name: str) -> list[str]:
                if name in new and state.documents.find(name) is None:
                    return []
                return list(state.document(state.number(name)).labels)

            decisions = list(decisions)
            new = {each["id"]: each["text"] for each in decisions if each.get("text")}
            labels, undo = decided(decisions, labels_of)
            replaced = [name for name in labels if state.documents.find(name) is not None]
            known = state.n_labels
            if labels:
                names = list(labels)
                kept = [
                    state.document(state.number(name)).text if name in replaced else new[name]
                    for name in names
                ]
                check_texts(kept)
                corpus = Corpus.from_texts(kept, list(labels.values()), names)
                documents = state.read_corpus(corpus)
                flags = [
                    state.documents.is_incomplete(state.number(name))
                    if name in replaced
                    else incomplete
                    for name in names
                ]
                state.check_incomplete(check_incomplete(flags, len(names)), self.model_name)
                write(documents_of(corpus, names, documents.counts, flags), documents)
            return Change(
                learned=tuple(labels),
                replaced=tuple(replaced),
                new_labels=tuple(state.labels.listed[known:]),
                not_updated=state.not_updated(self.model_name, bool(labels)),
            ), undo

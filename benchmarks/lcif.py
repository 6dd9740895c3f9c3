"""LCIF: the paper's figures and ours, tuning, prediction beside the search alone, memory.

    python -m benchmarks.lcif [--only SECTION ...]

Sections: small, thresholds, entropy, eurlex57k, yso-finna-en. Nothing is tuned on test documents.
"""

from __future__ import annotations

import argparse
import resource
import time

from benchmarks.common import DATA, VECTORIZERS, best_of, corpus, table, versions
from manylabel.corpus import read
from manylabel.metrics import evaluate
from manylabel.neighbors import LCIF, EntropySelector
from manylabel.selection import PAPER_GRID, Tuner
from manylabel.text import CountVectorizer

#: Accuracy, micro F1, macro F1 (absent labels count as 1): table 2 of the paper.
PAPER = {
    "medical": (0.636, 0.690, 0.492),
    "corel5k": (0.170, 0.274, 0.315),
    "bibtex": (0.341, 0.427, 0.328),
    "delicious": (0.230, 0.369, 0.181),
}
TUNED = ("accuracy", "micro-f1", "macro-f1-one")


#: Where plain cosine is tried beside tf-idf: the only corpus that is quick enough to tune twice.
WEIGHTINGS: dict[str, tuple[str | None, ...]] = {"medical": ("tfidf", None)}


def tuned(name: str, metric: str):
    """The best setting by leave-one-out on the training set.

    Tunes on as many documents as there are to test on, up to 2,000: macro F1 that counts absent
    labels as 1 depends on how many labels are absent, and so on the number of documents.
    """
    train, test = corpus(name)
    documents = min(2000, len(test))
    searches = [
        Tuner(
            LCIF(weighting=weighting, n_jobs=2), metric=metric, max_documents=documents, n_jobs=2
        ).fit(train.X, train.Y)
        for weighting in WEIGHTINGS.get(name, ("tfidf",))
    ]
    return max(searches, key=lambda search: search.best_score_)


def small() -> None:
    """The paper's large corpora, tuned for each measure, as in the paper."""
    print("\n### Medical, Corel5k, Bibtex, Delicious: tuned for each measure on training data\n")
    rows: list[list[object]] = []
    for name, published in PAPER.items():
        _, test = corpus(name)
        for metric, theirs in zip(TUNED, published, strict=True):
            start = time.perf_counter()
            search = tuned(name, metric)
            seconds = time.perf_counter() - start
            scores, labels = search.decision_function(test.X), search.predict(test.X)
            measured = evaluate(test.Y, scores, labels, metrics=[metric, "p@1", "p@3", "p@5"])
            settings = {k: v for k, v in search.best_params_.items() if k != "keep"}
            settings["weighting"] = search.best_estimator_.weighting
            described = ", ".join(f"{key} {value}" for key, value in settings.items())
            precisions = " ".join(f"{measured[f'p@{k}']:.3f}" for k in (1, 3, 5))
            rows.append(
                [name, metric, measured[metric], theirs, precisions, described, f"{seconds:.0f}"]
            )
    header = ["corpus", "measure", "ours", "paper", "P@1 P@3 P@5", "setting", "seconds to tune"]
    print(table(header, rows))


def thresholds() -> None:
    """One threshold against one for each label, all else equal."""
    print("\n### Macro F1 with one threshold and with one a label\n")
    rows: list[list[object]] = []
    for name in PAPER:
        train, test = corpus(name)
        search = Tuner(
            LCIF(n_jobs=2), metric="micro-f1", max_documents=2000, n_jobs=2,
            grid={**LCIF.default_grid, "threshold": ("cardinality",)}, refit=False,
        ).fit(train.X, train.Y)  # fmt: skip
        values = []
        for threshold in ("cardinality", "per-label"):
            model = search.best_estimator_.set_params(threshold=threshold).fit(train.X, train.Y)
            labels = model.predict(test.X)
            values.append(evaluate(test.Y, Y_pred=labels, metrics=["macro-f1-one"])["macro-f1-one"])
        rows.append([name, *values, values[1] - values[0]])
    mean = [sum(float(row[i]) for row in rows) / len(rows) for i in (1, 2, 3)]
    print(table(["corpus", "cardinality", "per-label", "gain"], [*rows, ["mean", *mean]]))


def entropy() -> None:
    """The effect of keeping only the features of highest entropy."""
    print("\n### Bibtex with only the features of highest entropy\n")
    train, test = corpus("bibtex")
    rows: list[list[object]] = []
    for keep in PAPER_GRID["keep"]:
        selector = EntropySelector(keep).fit(train.X)
        X, Q = selector.transform(train.X), selector.transform(test.X)
        model = LCIF(20, alpha=3.0, beta=2.0, lam=0.3, n_jobs=2).fit(X, train.Y)
        measured = evaluate(
            test.Y, model.decision_function(Q), model.predict(Q), metrics=["p@1", "p@5", "micro-f1"]
        )
        rows.append([keep, X.shape[1], f"{X.nnz / train.X.nnz:.0%}", *measured.values()])
    header = ["share kept", "features", "non-zeros kept", "P@1", "P@5", "micro F1"]
    print(table(header, rows))


def eurlex57k() -> None:
    """Tuned on the dev set; prediction beside the search alone."""
    print("\n### EURLEX57K: 45,000 documents to learn from, 6,000 to test on\n")
    vectorizer = CountVectorizer(n_jobs=2, **VECTORIZERS["eurlex57k"])
    train = read(DATA / "eurlex57k" / "train.jsonl.xz").vectorized(vectorizer)
    dev, test = (
        read(DATA / "eurlex57k" / f"{part}.jsonl.xz").vectorized(vectorizer, fit=False)
        for part in ("dev", "test")
    )
    names = [
        *train.label_names,
        *sorted({*dev.label_names, *test.label_names} - {*train.label_names}),
    ]
    train, dev, test = (part.align_to(label_names=names) for part in (train, dev, test))
    start = time.perf_counter()
    grid = {"k": (10, 20, 50, 100), "alpha": (2.0, 4.0, 6.0), "lam": (0.4, 0.6, 0.8, 0.9, 1.0)}
    search = Tuner(
        LCIF(labels_per_feature=100, threshold="top-5", n_jobs=2), metric="ndcg@5",
        grid=grid, staged=False, n_jobs=2, refit=False,
    ).fit(train.X, train.Y, validation=(dev.X, dev.Y))  # fmt: skip
    seconds = time.perf_counter() - start
    print(f"Tuned in {seconds:.0f} s ({len(search.trials_)} settings): {search.best_params_}\n")
    print(search.table(5) + "\n")
    _measure(search.best_estimator_, train, test)


def yso() -> None:
    """588,108 titles; tuned by leave-one-out on 5,000 of them."""
    print("\n### YSO-Finna English: 588,108 titles to learn from, 65,200 to test on\n")
    train, test = corpus("yso-finna-en")
    start = time.perf_counter()
    grid = {
        "k": (50, 100, 200, 350),
        "alpha": (2.0, 3.0, 4.0, 6.0),
        "beta": (0.5, 1.0, 2.0),
        "lam": (0.5, 0.7, 0.8, 0.9, 1.0),
    }
    search = Tuner(
        LCIF(labels_per_feature=100, threshold="top-5", n_jobs=2), metric="ndcg@5",
        grid=grid, max_documents=5000, n_jobs=2, refit=False,
    ).fit(train.X, train.Y)  # fmt: skip
    print(f"Tuned in {time.perf_counter() - start:.0f} s: {search.best_params_}\n")
    _measure(search.best_estimator_, train, test)


def _measure(model, train, test) -> None:
    """Fit, score the test set, and time it beside the search alone."""
    start = time.perf_counter()
    model.fit(train.X, train.Y)
    fitted = time.perf_counter() - start
    scores = model.decision_function(test.X, top=100)
    measured = evaluate(
        test.Y, scores, Y_train=train.Y,
        metrics=["p@1", "p@3", "p@5", "rp@5", "ndcg@5", "psp@1", "psp@5", "recall@100"],
    )  # fmt: skip
    print(table(list(measured), [list(measured.values())]))
    rows: list[list[object]] = []
    weighted = model.weighting_.transform(test.X)
    for threads in (1, 2):
        model.set_params(n_jobs=threads)
        times = best_of(
            2,
            {
                "search": lambda m=model, q=weighted: m._neighbors(q),
                "predict": lambda m=model, q=test.X: m.decision_function(q, top=100),
            },
        )
        per_document = [1000 * times[what] / test.X.shape[0] for what in ("search", "predict")]
        rows.append([threads, *per_document, times["predict"] / times["search"]])
    header = ["threads", "ms per document, search", "ms per document, all", "times the search"]
    print("\n" + table(header, rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\nFitted in {fitted:.1f} s, threshold included; at most {peak:.2f} GB, texts included.")


SECTIONS = {
    "small": small,
    "thresholds": thresholds,
    "entropy": entropy,
    "eurlex57k": eurlex57k,
    "yso-finna-en": yso,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    arguments = parser.parse_args()
    print("## LCIF\n\n" + versions("manylabel", "numpy", "scipy", "numba"))
    for name in arguments.only:
        SECTIONS[name]()


if __name__ == "__main__":
    main()

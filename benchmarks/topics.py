"""The topic models: their speed beside tomotopy, and their figures beside the papers'.

    python -m benchmarks.topics [training] [prediction] [papers] [yahoo] [eurlex]

Prints Markdown. Without names everything runs. Times are CPU seconds of one run, after a small one
that compiles, and add up the threads; they suffer less from whatever else the machine does. Reading
and vectorising are not part of them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common import DATA, corpus, table, versions
from manylabel.corpus import read
from manylabel.linear import OneVsRestSVM
from manylabel.metrics import average_precision, by_frequency, evaluate
from manylabel.thresholds import TopK
from manylabel.topics import (
    DependencyLDA,
    FlatLDA,
    LabelledTraining,
    PriorLDA,
    SubsetLLDA,
    train_phi,
)

N_JOBS = 2
RUBIN = [
    "auc-roc",
    "auc-pr",
    "average-precision",
    "one-error",
    "is-error",
    "margin",
    "ranking-loss",
    *(f"{mean}-f1@{cut}" for mean in ("micro", "macro") for cut in ("proportional", "calibrated")),
    *(f"{mean}-f1@break-even" for mean in ("micro", "macro")),
]
#: Micro F1, macro F1, P@1 and P@5 of Papanikolaou and Tsoumakas, tables 2 and 3.
PAPER = {
    ("bibtex", "PriorLDA"): (0.363, 0.257, 0.551, 0.238),
    ("bibtex", "DependencyLDA"): (0.314, 0.204, 0.501, 0.215),
    ("bibtex", "SubsetLLDA"): (0.384, 0.292, 0.579, 0.243),
    ("delicious", "PriorLDA"): (0.255, 0.100, 0.488, 0.391),
    ("delicious", "DependencyLDA"): (0.273, 0.090, 0.526, 0.416),
    ("delicious", "SubsetLLDA"): (0.304, 0.136, 0.525, 0.427),
}


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of all threads, and what came out."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def yahoo(name: str, seed: int = 0, n_train: int = 1000) -> tuple[sparse.csr_array, ...]:
    """A seeded split with as many training documents as in Rubin et al.: X, Y, X_test, Y_test."""
    whole = read(DATA / name / "all.txt.xz")
    order = np.random.default_rng(seed).permutation(len(whole))
    train, test = order[:n_train], order[n_train:]
    return whole.X[train], whole.Y[train], whole.X[test], whole.Y[test]


# Training


def tomotopy_model(X: sparse.csr_array, Y: sparse.csr_array) -> Any:
    """Tomotopy's labelled LDA with our prior, documents added, not trained."""
    import tomotopy

    model = tomotopy.LLDAModel(k=1, alpha=1.0, eta=0.01, seed=1)
    for row in range(X.shape[0]):
        entries = slice(X.indptr[row], X.indptr[row + 1])
        words = np.repeat(X.indices[entries], X.data[entries].astype(int))
        labels = Y.indices[Y.indptr[row] : Y.indptr[row + 1]]
        if words.size and labels.size:
            model.add_doc([str(word) for word in words], [str(label) for label in labels])
    model.train(0)
    return model


def tomotopy_phi(model: Any, n_words: int, n_labels: int) -> np.ndarray:
    phi = np.full((n_words, n_labels), 1.0 / n_words)
    words = np.array([int(word) for word in model.used_vocabs])
    for topic, label in enumerate(model.topic_label_dict):
        phi[words, int(label)] = model.get_topic_word_dist(topic)
    return phi


def held_out(phi: np.ndarray, X: sparse.csr_array, Y: sparse.csr_array) -> float:
    """Log-likelihood a token of every other word, given a document's labels and the other half."""
    total, n_tokens = 0.0, 0.0
    for row in range(X.shape[0]):
        words, counts = X[[row]].indices, X[[row]].data
        own = phi[words][:, Y[[row]].indices] + 1e-12
        if not own.shape[1]:
            continue
        theta = np.full(own.shape[1], 1.0 / own.shape[1])
        for _ in range(50):
            share = own[::2] * theta
            share /= share.sum(axis=1, keepdims=True)
            theta = counts[::2] @ share + 1.0
            theta /= theta.sum()
        total += counts[1::2] @ np.log(own[1::2] @ theta)
        n_tokens += counts[1::2].sum()
    return total / n_tokens


def training() -> None:
    try:
        import tomotopy  # noqa: F401
    except ImportError:
        print("tomotopy is not installed, so training is not compared with it.\n")
        return
    print("\n## Training of labelled LDA beside tomotopy, two threads\n")
    rows = []
    train, test = corpus("eurlex57k")
    few = slice(0, 2_000)
    problems = {
        "EURLEX57K": (train.X, train.Y, test.X[few], test.Y[few], 2, 3_000, 30),
        "Yahoo Arts": (*yahoo("yahoo-arts", n_train=6_000), 50, 6_000, 50),
    }
    for name, (X, Y, X_test, Y_test, sweeps, n_small, n_long) in problems.items():
        n_tokens = X[np.diff(Y.indptr) > 0].sum()
        train_phi(X[:50], Y[:50], burn_in=1)
        wall = time.perf_counter()
        ours, _ = cpu_seconds(
            lambda X=X, Y=Y: train_phi(X, Y, chains=N_JOBS, burn_in=20, n_jobs=N_JOBS)
        )
        wall = time.perf_counter() - wall
        model = tomotopy_model(X, Y)
        their_wall = time.perf_counter()
        theirs, _ = cpu_seconds(lambda model=model, n=sweeps: model.train(n, workers=N_JOBS))
        their_wall = time.perf_counter() - their_wall
        # Words that none of these documents has are unknown to both.
        known = np.unique(X[:n_small].indices)
        small_X, small_Y, X_test = X[:n_small][:, known], Y[:n_small], X_test[:, known]
        small = tomotopy_model(small_X, small_Y)
        small.train(n_long, workers=N_JOBS)
        our_phi = train_phi(small_X, small_Y, eta=1.0 * small_Y.nnz / n_small, burn_in=n_long)
        rows.append(
            [
                name,
                X.shape[0],
                Y.shape[1],
                n_tokens * sweeps / theirs / 1e6,
                n_tokens * 20 * N_JOBS / ours / 1e6,
                (n_tokens * 20 * N_JOBS / ours) / (n_tokens * sweeps / theirs),
                (n_tokens * 20 * N_JOBS / wall) / (n_tokens * sweeps / their_wall),
                held_out(tomotopy_phi(small, known.size, Y.shape[1]), X_test, Y_test),
                held_out(our_phi.word_labels.toarray(), X_test, Y_test),
            ]
        )
    header = ["corpus", "documents", "labels", "tomotopy: M tokens a CPU second", "ours"]
    header += ["ratio", "ratio by the clock", "held-out log-likelihood: tomotopy", "ours"]
    print(table(header, rows))
    print(
        "\nOurs includes finding the (word, label) pairs, theirs excludes adding the documents. "
        "Held-out likelihood is of models trained on 3,000 (EURLEX57K) and 6,000 documents for 30 "
        "and 50 sweeps, theirs of the final state, ours as it comes, the mean of two chains: half "
        "of a test document's words, given the rest and its labels."
    )


# Prediction


@njit(nogil=True)
def dense_sampler(pointers, words, counts, phi, prior, label_topics, eta, sweeps):
    """The straightforward sampler: every draw looks at every label, then at every topic.

    ``label_topics`` has no rows for Flat- and Prior-LDA, where the prior stays as it is.
    """
    n_labels, n_topics = prior.size, label_topics.shape[0]
    mass, topic_mass, prior = np.empty(n_labels), np.empty(n_topics), prior.copy()
    totals = np.zeros(n_labels)
    for row in range(pointers.size - 1):
        n_tokens = 0
        for entry in range(pointers[row], pointers[row + 1]):
            n_tokens += int(counts[entry])
        assigned = np.full(n_tokens, -1)
        label_n, topic_n, topic_of = np.zeros(n_labels), np.zeros(n_topics), np.full(n_tokens, -1)
        for _ in range(sweeps):
            if n_topics > 0:
                share = (topic_n + 0.05) / (topic_n.sum() + 0.05 * n_topics)
                for label in range(n_labels):
                    total = 0.01
                    for topic in range(n_topics):
                        total += eta * share[topic] * label_topics[topic, label]
                    prior[label] = total
            token = 0
            for entry in range(pointers[row], pointers[row + 1]):
                row_phi = phi[words[entry]]
                for _ in range(int(counts[entry])):
                    if assigned[token] >= 0:
                        label_n[assigned[token]] -= 1
                    total = 0.0
                    for label in range(n_labels):
                        total += row_phi[label] * (label_n[label] + prior[label])
                        mass[label] = total
                    target = np.random.random() * total  # noqa: NPY002 - Numba seeds no Generator
                    label = np.searchsorted(mass, target, side="right")
                    assigned[token] = label
                    label_n[label] += 1
                    if n_topics > 0:
                        if topic_of[token] >= 0:
                            topic_n[topic_of[token]] -= 1
                        total = 0.0
                        for topic in range(n_topics):
                            total += label_topics[topic, label] * (topic_n[topic] + 0.05)
                            topic_mass[topic] = total
                        target = np.random.random() * total  # noqa: NPY002
                        topic = np.searchsorted(topic_mass, target, side="right")
                        topic_of[token] = min(topic, n_topics - 1)
                        topic_n[topic_of[token]] += 1
                    token += 1
        totals += label_n
    return totals


def prediction(training: LabelledTraining) -> None:
    print("\n## Prediction over all labels of EURLEX57K, one thread\n")
    train, test = corpus("eurlex57k")
    X, sweeps = test.X[:100], 40
    phi = training.word_labels.toarray()
    few = X[:10]
    prior = np.full(phi.shape[1], 0.5 * few.sum() / 10 / phi.shape[1])
    dense = {}
    for name, n_topics in (("flat", 0), ("topics", 200)):
        topics = np.random.default_rng(0).dirichlet(np.full(phi.shape[1], 0.01), n_topics)
        given = (few.indices, few.data, phi, prior, topics, 150.0)
        dense_sampler(few[:1].indptr, *given, 1)
        seconds, _ = cpu_seconds(lambda given=given: dense_sampler(few.indptr, *given, 4))
        dense[name] = seconds / (few.sum() * 4)
    rows: list[list[object]] = [
        ["every label, dense", dense["flat"] * 1e9, 1.0],
        ["every label and 200 topics, dense", dense["topics"] * 1e9, 1.0],
    ]
    for model in (FlatLDA, PriorLDA, DependencyLDA):
        beside = dense["topics" if model is DependencyLDA else "flat"]
        fitted = model(training=training, inference="cgs", burn_in=sweeps // 2, samples=sweeps // 2)
        fitted.fit(train.X, train.Y).decision_function(X[:1], top=5)
        seconds, _ = cpu_seconds(lambda fitted=fitted: fitted.decision_function(X, top=5))
        n_chains = 2 if model is DependencyLDA else 1
        took = seconds / (X.sum() * sweeps * n_chains)
        rows.append([f"{model.__name__}, decomposed", took * 1e9, beside / took])
    print(table(["sampler", "nanoseconds a token", "times as fast"], rows))
    print(
        f"\n{phi.shape[1]:,} labels; {sweeps} sweeps of 100 documents (dense: 4 sweeps of 10), "
        "scores included."
    )


# The papers' figures


def papers(seeds: int = 5) -> None:
    print(f"\n## Papanikolaou and Tsoumakas' settings, mean of {seeds} seeds, rcut\n")
    measures = ["micro-f1", "macro-f1", "p@1", "p@5"]
    rows = []
    for name in ("bibtex", "delicious"):
        train, test = corpus(name)
        found: dict[str, list[list[float]]] = {}
        for seed in range(seeds):
            shared = None
            for model in (PriorLDA, DependencyLDA, SubsetLLDA):
                for label, made in {
                    model.__name__: model.from_preset("papanikolaou"),
                    f"{model.__name__}, our defaults": model(),
                }.items():
                    ours = label != model.__name__
                    made.set_params(random_state=seed, n_jobs=N_JOBS)
                    if not ours:
                        made.set_params(training=shared)
                    made.fit(train.X, train.Y)
                    shared = shared if ours else made.training_
                    scores = made.decision_function(test.X)
                    cut = TopK().fit(scores, train.Y).apply(scores)
                    values = evaluate(test.Y, scores, cut, metrics=measures)
                    found.setdefault(label, []).append(list(values.values()))
        for label, values in found.items():
            paper = PAPER.get((name, label))
            rows.append([name, label, *np.mean(values, axis=0).tolist()])
            if paper is not None:
                rows.append([name, f"{label}, paper", *paper])
    print(table(["corpus", "model", "micro F1", "macro F1", "P@1", "P@5"], rows))


def rubin_table(
    scores: dict[str, sparse.csr_array], Y_test: sparse.csr_array, Y_train: sparse.csr_array
) -> None:
    """Print the thirteen measures of Rubin et al., both pivots."""
    names = [*RUBIN, *(f"label-{name}" for name in RUBIN)]
    values = {
        model: evaluate(Y_test, score, Y_train=Y_train, metrics=names)
        for model, score in scores.items()
    }
    print(
        table(
            ["measure", *values],
            [[name, *(found[name] for found in values.values())] for name in names],
        )
    )


def yahoo_sets() -> None:
    for name in ("yahoo-arts", "yahoo-health"):
        print(f"\n## {name}: Rubin's settings, 1,000 training documents of one seeded split\n")
        X, Y, X_test, Y_test = yahoo(name)
        shared, scores = None, {}
        for model in (FlatLDA, PriorLDA, DependencyLDA):
            made = model.from_preset("rubin-yahoo", train_chains=8, chains=10, n_jobs=N_JOBS)
            made.set_params(training=shared).fit(X, Y)
            shared = made.training_
            scores[model.__name__] = made.decision_function(X_test)
        for title, tuned in (("vanilla SVM", False), ("tuned SVM", True)):
            svm = OneVsRestSVM(tuned=tuned, prune=0, n_candidates=None, n_jobs=N_JOBS)
            scores[title] = svm.fit(X, Y).decision_function(X_test)
        rubin_table(scores, Y_test, Y)
        print("\nAs in the paper, but with 8 chains of training and 10 of prediction.")


def eurlex_training() -> LabelledTraining:
    train, _ = corpus("eurlex57k")
    return train_phi(train.X, train.Y, inference="cgs_p", burn_in=40, n_jobs=N_JOBS, random_state=0)


def eurlex(training: LabelledTraining) -> None:
    print("\n## EURLEX57K: four priors on the same label-word distributions\n")
    train, test = corpus("eurlex57k")
    rubin = {"training": training, "n_jobs": N_JOBS, "chains": 2, "burn_in": 50}
    topics = {"topic_chains": 2, "topic_burn_in": 200}
    models = {
        "FlatLDA": FlatLDA.from_preset("rubin-eurlex", **rubin),
        "PriorLDA": PriorLDA.from_preset("rubin-eurlex", **rubin),
        "DependencyLDA": DependencyLDA.from_preset("rubin-eurlex", **rubin, **topics),
        "SubsetLLDA": SubsetLLDA(training=training, n_jobs=N_JOBS),
        "vanilla SVM": OneVsRestSVM(n_candidates=None, n_jobs=N_JOBS),
    }
    scores, rows = {}, []
    for name, model in models.items():
        fit, _ = cpu_seconds(lambda model=model: model.fit(train.X, train.Y))
        took, scores[name] = cpu_seconds(lambda model=model: model.decision_function(test.X))
        cut = TopK().fit(scores[name], train.Y).apply(scores[name])
        measures = ["micro-f1", "macro-f1", "p@1", "p@3", "p@5"]
        values = evaluate(test.Y, scores[name], cut, metrics=measures)
        rows.append([name, *values.values(), fit, 1e3 * took / test.X.shape[0]])
    header = ["model", "micro F1", "macro F1", "P@1", "P@3", "P@5"]
    print(table([*header, "fit, s, phi shared", "ms a document"], rows))
    print("\nRubin's priors for the first three, 2 chains of 120 sweeps; the others as they come.")
    latency(models["SubsetLLDA"], test.X)

    print("\n### The thirteen measures of Rubin et al., both pivots\n")
    rubin_table(scores, test.Y, train.Y)
    print("\n### Average precision by how often a label occurs in training (figure 12)\n")
    bins = {
        name: by_frequency(average_precision(test.Y, score, pivot="label", average=False), train.Y)
        for name, score in scores.items()
    }
    quintiles = next(iter(bins.values()))
    print(
        table(
            ["training documents", "labels", *bins],
            [
                [each.name, each.n_labels, *(found[i].value for found in bins.values())]
                for i, each in enumerate(quintiles)
            ],
        )
    )


def latency(model: SubsetLLDA, X: sparse.csr_array) -> None:
    """One document at a time on one core, the search included."""
    model.set_params(n_jobs=1)
    model.decision_function(X[:1])
    took = []
    for row in range(300):
        seconds, _ = cpu_seconds(lambda row=row: model.decision_function(X[[row]]))
        took.append(1e3 * seconds)
    whole, _ = cpu_seconds(lambda: model.decision_function(X[:1000]))
    print(
        f"\nSubset LLDA, one document at a time on one core, search included: mean "
        f"{np.mean(took):.2f} ms, 95th percentile {np.percentile(took, 95):.2f} ms; in a batch of "
        f"1,000: {whole:.2f} ms a document."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sections = ("training", "prediction", "papers", "yahoo", "eurlex")
    parser.add_argument("sections", nargs="*", choices=[*sections, []], metavar="SECTION")
    chosen = parser.parse_args().sections or sections
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"# Topic models\n\n{versions('manylabel', 'tomotopy', 'numba', 'numpy')}")
    if "training" in chosen:
        training()
    if "papers" in chosen:
        papers()
    if "yahoo" in chosen:
        yahoo_sets()
    if "prediction" in chosen or "eurlex" in chosen:
        shared = eurlex_training()
        if "prediction" in chosen:
            prediction(shared)
        if "eurlex" in chosen:
            eurlex(shared)


if __name__ == "__main__":
    main()

"""The topic models: their speed beside tomotopy, and their figures beside the papers'.

    python -m benchmarks.topics [--corpus NAME] [--seeds N] [--random]
                                [training] [prediction] [papers] [eurlex]

Prints Markdown. Without names everything runs; the options are of ``papers``.
Times are CPU seconds of all threads, of one run after a small one that compiles; other work on the
machine affects them little. They exclude reading and vectorising.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from benchmarks import dense
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
    """CPU time of all threads, and the result."""
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
    """Tomotopy's labelled LDA with our prior, which stays; documents added, not trained."""
    import tomotopy

    model = tomotopy.LLDAModel(k=1, alpha=1.0, eta=0.01, seed=1)
    model.optim_interval = 0
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
    """Log-likelihood per token of every other word, given the labels and the other half."""
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
        alike = {"eta": 0.0, "alpha_sum": float(Y.shape[1]), "burn_in": n_long}
        our_phis = [train_phi(small_X, small_Y, chains=chains, **alike) for chains in (1, 2)]
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
                *(held_out(phi.word_labels.toarray(), X_test, Y_test) for phi in our_phis),
            ]
        )
    header = ["corpus", "documents", "labels", "tomotopy: M tokens a CPU second", "ours"]
    header += ["ratio", "ratio by the clock", "held-out log-likelihood: tomotopy"]
    header += ["ours, one chain", "ours, two chains"]
    print(table(header, rows))
    print(
        "\nOurs includes finding the (word, label) pairs, theirs excludes adding the documents. "
        "Held-out likelihood is of models trained on 3,000 (EURLEX57K) and 6,000 documents for 30 "
        "and 50 sweeps with the same priors: half of a test document's words, given the rest and "
        "its labels. Theirs is of the final state; so is ours with one chain."
    )


# Prediction


def prediction(training: LabelledTraining) -> None:
    print("\n## Prediction over all labels of EURLEX57K, one thread\n")
    train, test = corpus("eurlex57k")
    X, sweeps = test.X[:100], 40
    phi = training.word_labels.toarray()
    rows: list[list[object]] = []
    for model in (FlatLDA, PriorLDA, DependencyLDA):
        fitted = model(training=training, inference="cgs", burn_in=sweeps // 2, samples=sweeps // 2)
        fitted.fit(train.X, train.Y).decision_function(X[:1], top=5)
        seconds, _ = cpu_seconds(lambda fitted=fitted: fitted.decision_function(X, top=5))
        # Dependency-LDA has a chain for each set of topics, and the other two have none to draw.
        ours = 1e9 * seconds / (X.sum() * sweeps * len(fitted.topics_))
        topics = fitted.topics_[0].toarray()[: None if model is DependencyLDA else 0]
        in_numpy, in_numba = (
            dense.nanoseconds(X[:10], phi, topics, compiled) for compiled in (False, True)
        )
        row = [model.__name__, in_numpy, in_numba, ours, in_numpy / ours, in_numba / ours]
        rows.append(row)
    header = ["model", "dense, NumPy: ns per token", "dense, Numba", "ours"]
    print(table([*header, "times NumPy", "times Numba"], rows))
    print(
        f"\n{phi.shape[1]:,} labels; {sweeps} sweeps of 100 documents (dense: 4 sweeps of 10), "
        "scores included."
    )


# The papers' figures


def random_split(name: str, seed: int) -> tuple[sparse.csr_array, ...]:
    """Another split of a corpus, of the same sizes: X, Y, X_test, Y_test."""
    parts = corpus(name)
    X, Y = (sparse.vstack([getattr(part, which) for part in parts], "csr") for which in "XY")
    order = np.random.default_rng(seed).permutation(X.shape[0])
    train, test = np.sort(order[: len(parts[0])]), np.sort(order[len(parts[0]) :])
    return X[train], Y[train], X[test], Y[test]


def papers(names: tuple[str, ...], seeds: int, at_random: bool) -> None:
    """Beside the paper, which had a split of the XC repository; those are random."""
    which = "random splits of the same sizes" if at_random else "the official split"
    print(f"\n## Papanikolaou and Tsoumakas' settings, mean of {seeds} seeds, rcut, {which}\n")
    # The authors' program counts a label that is neither given nor right as 1, as Mulan does.
    measures = ["micro-f1", "macro-f1-one", "p@1", "p@5"]
    rows = []
    for name in names:
        train, test = corpus(name)
        by_model: dict[str, list[list[float]]] = {}
        for seed in range(seeds):
            X, Y, X_test, Y_test = (
                random_split(name, seed) if at_random else (train.X, train.Y, test.X, test.Y)
            )
            shared = None
            for model in (PriorLDA, DependencyLDA, SubsetLLDA):
                made = model.from_preset("papanikolaou", random_state=seed, n_jobs=N_JOBS)
                shared = made.set_params(training=shared).fit(X, Y).training_
                scores = made.decision_function(X_test)
                cut = TopK().fit(scores, Y).apply(scores)
                values = evaluate(Y_test, scores, cut, metrics=measures)
                by_model.setdefault(model.__name__, []).append(list(values.values()))
        for label, values in by_model.items():
            rows.append([name, label, *np.mean(values, axis=0).tolist()])
            rows.append([name, f"{label}, paper", *PAPER[name, label]])
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
            [[name, *(measured[name] for measured in values.values())] for name in names],
        )
    )


def svms(X: sparse.csr_array, Y: sparse.csr_array, X_test: sparse.csr_array, prune: float) -> Any:
    """The scores of Rubin's two SVMs, and the CPU seconds that each took to train."""
    scores, seconds = {}, {}
    for title, is_tuned in (("vanilla SVM", False), ("tuned SVM", True)):
        settings = {"prune": prune, "n_candidates": None, "threshold": "top", "n_jobs": N_JOBS}
        svm = OneVsRestSVM(tuned=is_tuned, **settings)
        seconds[title], _ = cpu_seconds(lambda svm=svm: svm.fit(X, Y))
        scores[title] = svm.decision_function(X_test)
    return scores, seconds


def eurlex_training() -> LabelledTraining:
    train, _ = corpus("eurlex57k")
    return train_phi(train.X, train.Y, inference="cgs_p", burn_in=25, n_jobs=N_JOBS, random_state=0)


def eurlex(training: LabelledTraining, n_test: int = 1_000) -> None:
    print("\n## EURLEX57K: four priors on the same label-word distributions\n")
    train, test = corpus("eurlex57k")
    X_test, Y_test = test.X[:n_test], test.Y[:n_test]
    rubin = {"training": training, "n_jobs": N_JOBS, "chains": 1}
    topics = {"topic_chains": 1, "topic_burn_in": 200}
    models = {
        "FlatLDA": FlatLDA.from_preset("rubin-eurlex", **rubin),
        "PriorLDA": PriorLDA.from_preset("rubin-eurlex", **rubin),
        "DependencyLDA": DependencyLDA.from_preset("rubin-eurlex", **rubin, **topics),
        "SubsetLLDA": SubsetLLDA(training=training, n_jobs=N_JOBS),
    }
    scores, rows = {}, []
    for name, model in models.items():
        fit, _ = cpu_seconds(lambda model=model: model.fit(train.X, train.Y))
        took, scores[name] = cpu_seconds(lambda model=model: model.decision_function(X_test))
        cut = TopK().fit(scores[name], train.Y).apply(scores[name])
        measures = ["micro-f1", "macro-f1", "p@1", "p@3", "p@5"]
        values = evaluate(Y_test, scores[name], cut, metrics=measures)
        rows.append([name, *values.values(), fit, 1e3 * took / n_test])
    header = ["model", "micro F1", "macro F1", "P@1", "P@3", "P@5"]
    print(table([*header, "fit, s, phi shared", "ms per document"], rows))
    print(
        f"\n{n_test:,} test documents. Rubin's priors for the first three, one chain of 120 "
        "sweeps; the last as it comes."
    )
    latency(models["SubsetLLDA"], X_test)
    print("\n### The thirteen measures of Rubin et al., both pivots\n")
    rubin_table(scores, Y_test, train.Y)
    print("\n### Average precision by how often a label occurs in training (figure 12)\n")
    frequency_table(scores, Y_test, train.Y)

    chosen = some_labels(train.Y, Y_test)
    Y, Y_test = train.Y[:, chosen], Y_test[:, chosen]
    print(f"\n### The SVMs, on {chosen.size} labels\n")
    scores = {name: sparse.csr_array(score[:, chosen]) for name, score in scores.items()}
    of_svms, seconds = svms(train.X, Y, X_test, prune=0.01)
    scores |= of_svms
    rubin_table(scores, Y_test, Y)
    print()
    frequency_table(scores, Y_test, Y)
    for title, took in seconds.items():
        whole = took * np.count_nonzero(train.Y.sum(axis=0)) / chosen.size
        print(f"\n{title}: {took:.0f} CPU seconds, so {whole:,.0f} for all labels.")


def some_labels(Y: sparse.csr_array, Y_test: sparse.csr_array, n_labels: int = 60) -> np.ndarray:
    """Labels of training and test documents at even distances from the rarest to the commonest."""
    often = np.asarray(Y.sum(axis=0)).ravel()
    both = np.flatnonzero((often > 0) & (np.asarray(Y_test.sum(axis=0)).ravel() > 0))
    by_rank = both[np.argsort(often[both], kind="stable")]
    places = np.linspace(0, by_rank.size - 1, n_labels).round().astype(int)
    return np.sort(by_rank[places])


def frequency_table(
    scores: dict[str, sparse.csr_array], Y_test: sparse.csr_array, Y_train: sparse.csr_array
) -> None:
    """Print each model's mean average precision of labels, by quintile of their frequency."""
    bins = {
        name: by_frequency(average_precision(Y_test, score, pivot="label", average=False), Y_train)
        for name, score in scores.items()
    }
    quintiles = next(iter(bins.values()))
    print(
        table(
            ["training documents", "labels", *bins],
            [
                [each.name, each.n_labels, *(of_model[i].value for of_model in bins.values())]
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
    whole, _ = cpu_seconds(lambda: model.decision_function(X[:1_000]))
    print(
        f"\nSubset LLDA, one document at a time on one core, search included: mean "
        f"{np.mean(took):.2f} ms, 95th percentile {np.percentile(took, 95):.2f} ms; in a batch of "
        f"1,000: {whole:.2f} ms per document."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sections = ("training", "prediction", "papers", "eurlex")
    parser.add_argument("sections", nargs="*", choices=[*sections, []], metavar="SECTION")
    parser.add_argument("--corpus", choices=("bibtex", "delicious"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--random", action="store_true", help="random instead of official splits")
    given = parser.parse_args()
    chosen = given.sections or sections
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"# Topic models\n\n{versions('manylabel', 'tomotopy', 'numba', 'numpy')}")
    if "training" in chosen:
        training()
    if "papers" in chosen:
        names = (given.corpus,) if given.corpus else ("bibtex", "delicious")
        papers(names, given.seeds, given.random)
    if "prediction" in chosen or "eurlex" in chosen:
        shared = eurlex_training()
        if "prediction" in chosen:
            prediction(shared)
        if "eurlex" in chosen:
            eurlex(shared)


if __name__ == "__main__":
    main()

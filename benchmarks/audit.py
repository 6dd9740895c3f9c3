"""Finding wrong labels: our audit beside cleanlab 2.9.

    python -m benchmarks.audit [--corpora medical,bibtex,delicious,eurlex57k]
                               [--rates 0.02,0.05,0.1] [--rows N] [--seeds 1,2,3] [--synthetic N]
                               [--large N] [--without-regression] [--jobs N]

Labels are flipped at random: of each three, one is removed, one is given to a document that
should not have it, one is swapped for one of the three labels whose documents are most similar.
Both tools then see only the flipped labels. cleanlab gets out-of-sample probabilities of
scikit-learn's logistic regression (five folds) and, separately, ours; our ranking gets both, too.
With several seeds, the numbers are means, and a second table has the difference between our ranking
of our probabilities and the best of cleanlab's variants, with its standard error over the seeds.
All documents are training documents; nothing is tuned here. The prior of mistakes was
chosen on the *test* documents of Medical (seeds 0 to 4) and Bibtex (seed 0), the weight of a
label's own rate of errors on the synthetic seeds 100 to 105, and the way from pairs to documents on
all of these and the synthetic seeds up to 129. The rate of accidents was chosen on synthetic seeds
100 to 105 and test documents of Medical, Bibtex and Delicious. How accidents grow with a document's
labels was chosen on test documents of the four corpora (seeds 11 to 14). That labels are missing
where a document has more than expected, and that measured accidents are taken out of probabilities,
was chosen on 1,200 test documents of the corpora (dev for EURLEX57K; seeds 31 to 33 and 41) and
the synthetic seeds 200 to 207. None of these is reported.

cleanlab needs a dense array and scikit-learn a model per label and fold, so Delicious and EURLEX57K
are cut to their first documents and to labels that some of these have: see `SUBSETS`.

The synthetic protocol: Gaussian clusters, one for each of K classes; a row belongs to up to three
classes, and its features are the mean of their centres with noise. Labels are flipped class by
class, at most three in a row. Documents are ranked; there are no texts.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import KFold

from benchmarks.common import DATA, VECTORIZERS, table, versions
from manylabel.audit import audit, document_errors, pair_errors
from manylabel.corpus import read
from manylabel.ensemble import Combination, Curve, Ensemble, OutOfSample
from manylabel.text import CountVectorizer, make_weighting

#: cleanlab's ways to score a document, its default first.
BASES = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
AGGREGATORS = (
    {"method": "exponential_moving_average", "alpha": 0.8},
    {"method": "softmin", "temperature": 0.1},
)
MEASURES = ("AUPRC", "AUROC", "AP@T")
#: The probability of a pair that is not a candidate.
ABSENT = 1e-4
#: Of corpora that would take hours: the first documents, and the fewest documents of a label.
SUBSETS = {"delicious": (2_500, 2), "eurlex57k": (2_500, 20)}


def flip(Y: sparse.csr_array, X: sparse.csr_array, rate: float, seed: int) -> NDArray[np.bool_]:
    """The labels with a share of them missing, wrong or swapped for a similar one."""
    rng = np.random.default_rng(seed)
    truth = Y.toarray().astype(bool)
    noisy = truth.copy()
    middles = sparse.csr_array(Y.T @ make_weighting("tfidf").fit_transform(X))
    lengths = np.sqrt(np.asarray(middles.multiply(middles).sum(axis=1)).ravel())
    similar = (middles @ middles.T).toarray() / np.maximum(np.outer(lengths, lengths), 1e-9)
    np.fill_diagonal(similar, -1)
    rows, columns = np.nonzero(truth)
    for number, position in enumerate(rng.permutation(rows.size)[: round(rate * rows.size)]):
        row, label = rows[position], columns[position]
        free = ~truth[row] & ~noisy[row]
        if number % 3 != 1:
            noisy[row, label] = False
        if number % 3 == 1:
            noisy[row, rng.choice(np.flatnonzero(free))] = True
        if number % 3 == 2:
            nearest = np.argsort(-similar[label])
            noisy[row, rng.choice(nearest[free[nearest]][:3])] = True
    return noisy


def logistic_regression(rows, noisy: NDArray[np.bool_], seed: int = 0) -> NDArray[np.float64]:
    """Out-of-sample probabilities, dense."""
    found = np.full(noisy.shape, 1e-6)
    for train, test in KFold(5, shuffle=True, random_state=seed).split(noisy):
        given, asked = rows[train], rows[test]
        for part in (given, asked):
            if sparse.issparse(part):
                part.indptr, part.indices = part.indptr.astype("i4"), part.indices.astype("i4")
        for label in range(noisy.shape[1]):
            y = noisy[train, label]
            if y.any() and not y.all():
                # The same problem; each solver is the quicker one where it is used.
                solver = "liblinear" if sparse.issparse(given) else "newton-cholesky"
                model = LogisticRegression(C=10, solver=solver).fit(given, y)
                found[test, label] = model.predict_proba(asked)[:, 1]
    return found


def bayes(P: NDArray[np.float64], noisy: NDArray[np.bool_]) -> tuple[NDArray, NDArray]:
    """Our ranking of dense probabilities: pairs and documents."""
    pattern = sparse.csr_array(np.ones(P.shape, np.int8))
    line = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    odds = np.log(P / (1 - P)).ravel()
    out = OutOfSample(
        pattern,
        {"p": odds},
        np.zeros(odds.size, np.int64),
        Combination({"p": line}, np.zeros(6)),
        np.ones(odds.size, bool),
    )
    errors = pair_errors(out, sparse.csr_array(noisy.astype(np.int8)))
    return errors.reshape(P.shape), document_errors(pattern, errors)


def cleanlab(P: NDArray[np.float64], noisy: NDArray[np.bool_]):
    """Each variant of cleanlab: its name, and scores of pairs and documents; high is suspicious."""
    from cleanlab.internal.multilabel_scorer import ClassLabelScorer, MultilabelScorer
    from cleanlab.multilabel_classification import get_label_quality_scores

    labels = [np.flatnonzero(row).tolist() for row in noisy]
    for base in BASES:
        pairs = MultilabelScorer(
            base_scorer=ClassLabelScorer.from_str(base)
        ).get_class_label_quality_scores(noisy.astype(int), P)
        for options in AGGREGATORS:
            quality = get_label_quality_scores(
                labels, P, method=base, aggregator_kwargs=dict(options)
            )
            yield f"cleanlab {base} {options['method']}", 1 - pairs, 1 - quality


def judged(is_error: NDArray[np.bool_], suspicion: NDArray[np.float64]) -> list[float]:
    """AUPRC, AUROC, and average precision among the first T, the number of errors."""
    y, s = is_error.ravel(), suspicion.ravel()
    n = int(y.sum())
    first = np.argsort(-s, kind="stable")[:n]
    precision = np.cumsum(y[first]) / np.arange(1, n + 1)
    at = float((precision * y[first]).sum() / max(y[first].sum(), 1))
    return [float(average_precision_score(y, s)), float(roc_auc_score(y, s)), at]


def sample(name: str, n_rows: int | None) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Words and labels of the first training documents of a corpus."""
    most, least = SUBSETS.get(name, (None, 2))
    n_rows = n_rows or most
    train = read(next((DATA / name).glob("train.*")))
    if n_rows is not None:
        train = train[:n_rows]
    if name in VECTORIZERS:
        train = train.vectorized(CountVectorizer(n_jobs=1, **VECTORIZERS[name]))
    X, Y = train.X, train.Y
    # Words that no document of the sample has would only waste memory.
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))]
    Y = Y[:, np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]) >= least)]
    return X, sparse.csr_array(Y)


def real(
    name: str, rate: float, seed: int, n_rows: int | None, with_regression: bool, n_jobs: int
) -> dict[tuple[str, str], list[float]]:
    """The measures of each ranking and its probabilities, of pairs and of documents."""
    X, Y = sample(name, n_rows)
    noisy = flip(Y, X, rate, seed)
    wrong = Y.toarray().astype(bool) != noisy
    start = time.process_time()
    found = audit(X, sparse.csr_array(noisy.astype(np.int8)), Ensemble(n_jobs=n_jobs))
    ours = time.process_time() - start
    start = time.process_time()
    by_lr = np.full((1, 1), 0.5)
    if with_regression:
        by_lr = logistic_regression(make_weighting("tfidf").fit_transform(X), noisy)
    theirs = time.process_time() - start
    by_us = np.full(wrong.shape, ABSENT)
    pairs = np.tile(found.unlisted, (wrong.shape[0], 1))
    pattern = found.out.pattern
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    by_us[rows, pattern.indices] = found.out.probabilities.data
    pairs[rows, pattern.indices] = found.errors
    by_us, by_lr = (np.clip(P, 1e-6, 1 - 1e-6) for P in (by_us, by_lr))
    tried = [("manylabel", "manylabel", pairs, found.documents)]
    sources = {"manylabel": by_us}
    if with_regression:
        tried += [("manylabel", "logistic regression", *bayes(by_lr, noisy))]
        sources["logistic regression"] = by_lr
    for source, P in sources.items():
        tried += [(way, source, *scores) for way, *scores in cleanlab(P, noisy)]
    print(
        f"{name}, {rate:.0%}, seed {seed}: {Y.shape[0]:,} documents, {Y.shape[1]:,} labels, "
        f"{wrong.sum():,} errors; manylabel {ours:.0f} CPU s, logistic regression {theirs:.0f}\n",
        flush=True,
    )
    return {
        (way, source): judged(wrong, pair) + judged(wrong.any(axis=1), document)
        for way, source, pair, document in tried
    }


def differences(runs: list[dict[tuple[str, str], list[float]]]) -> list[list[object]]:
    """For each measure: ours, the best of cleanlab, and their difference with its error."""
    head = ["pairs"] * len(MEASURES) + ["documents"] * len(MEASURES)
    rows: list[list[object]] = []
    for number, kind in enumerate(head):
        ways = {way: np.array([run[way][number] for run in runs]) for way in runs[0]}
        ours = ways["manylabel", "manylabel"]
        best = max((way for way in ways if way[0] != "manylabel"), key=lambda w: ways[w].mean())
        apart = ours - ways[best]
        error = apart.std(ddof=1) / np.sqrt(apart.size)
        rows.append(
            [
                f"{MEASURES[number % len(MEASURES)]}, {kind}",
                float(ours.mean()),
                float(ways[best].mean()),
                f"{apart.mean():+.4f} ± {error:.4f}",
                ", ".join(best),
            ]
        )
    return rows


def made(n_rows: int, n_features: int, n_classes: int, seed: int):
    """Rows, their labels, and these with class-wise noise."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=3, size=(n_classes, n_features))
    truth = np.zeros((n_rows, n_classes), bool)
    for row in range(n_rows):
        truth[row, rng.choice(n_classes, rng.integers(1, 4), replace=False)] = True
    X = truth @ centres / truth.sum(axis=1, keepdims=True) + rng.normal(size=(n_rows, n_features))
    rates = rng.uniform(0.0, 0.2, n_classes)
    noise = rng.random(truth.shape) < rates / (1 if n_classes < 10 else 10)
    for row in np.flatnonzero(noise.sum(axis=1) > 3):
        noise[row, rng.permutation(np.flatnonzero(noise[row]))[3:]] = False
    return X, truth, truth ^ noise


def synthetic(n_rows: int, n_features: int, n_classes: int, seeds: int) -> list[list[object]]:
    """Documents of the synthetic protocol, with the same probabilities for all rankings."""
    sums: dict[str, NDArray[np.float64]] = {}
    for seed in range(seeds):
        X, truth, noisy = made(n_rows, n_features, n_classes, seed)
        P = np.clip(logistic_regression(X, noisy, seed), 1e-6, 1 - 1e-6)
        wrong = (truth != noisy).any(axis=1)
        tried = [("manylabel", bayes(P, noisy)[1])]
        tried += [(way, document) for way, _, document in cleanlab(P, noisy)]
        for way, document in tried:
            sums[way] = sums.get(way, 0) + np.array(judged(wrong, document)) / seeds
    size = f"{n_rows:,} x {n_features}, {n_classes} classes"
    return [[size, way, *map(float, values)] for way, values in sums.items()]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", default="medical,bibtex,delicious,eurlex57k")
    parser.add_argument("--rates", default="0.02,0.05,0.1")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seeds", default="1", help="of the flips")
    parser.add_argument("--synthetic", type=int, default=10, help="seeds; 0 for none")
    parser.add_argument("--large", type=int, default=10, help="seeds of 50 classes; 0 for none")
    parser.add_argument("--without-regression", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(f"# Audit\n\n{versions('manylabel', 'cleanlab', 'scikit-learn')}; seeds {asked.seeds}\n")
    for name in filter(None, asked.corpora.split(",")):
        head = ["corpus", "flipped", "ranking", "probabilities"]
        head += [f"{m}, pairs" for m in MEASURES] + [f"{m}, documents" for m in MEASURES]
        for rate in map(float, asked.rates.split(",")):
            runs = [
                real(name, rate, seed, asked.rows, not asked.without_regression, asked.jobs)
                for seed in map(int, asked.seeds.split(","))
            ]
            rows = [
                [name, f"{rate:.0%}", *way, *np.mean([run[way] for run in runs], axis=0).tolist()]
                for way in runs[0]
            ]
            print(table(head, rows), end="\n\n", flush=True)
            if len(runs) > 1:
                compared = ["measure", "manylabel", "cleanlab", "difference", "cleanlab's variant"]
                print(table(compared, differences(runs)), end="\n\n", flush=True)
    for size, seeds in (((6_000, 3, 4), asked.synthetic), ((37_500, 20, 50), asked.large)):
        if seeds:
            rows = synthetic(*size, seeds)
            print(table(["synthetic", "ranking", *MEASURES], rows), end="\n\n", flush=True)


if __name__ == "__main__":
    main()

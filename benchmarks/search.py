"""Exact neighbour search side by side with sparse_dot_topn, scikit-learn and SciPy.

    python -m benchmarks.search [--quick] [--only SECTION ...]

Sections: batch, leave-one-out, build, latency, papers-tables, scaling, amazoncat.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from benchmarks.common import best_of, table, versions, weighted
from manylabel.neighbors import NeighborIndex
from manylabel.parallel import single_threaded_blas

K = 100
CORPORA = ("eurlex57k", "yso-finna-en", "bibtex", "delicious")


def topn(Q: sparse.csr_array, XT: sparse.csr_array, k: int, threads: int) -> sparse.csr_array:
    """sparse_dot_topn's product, which keeps the best k of each row, sorted."""
    from sparse_dot_topn import sp_matmul_topn

    # It takes only the old matrix class; converting an array copies nothing.
    A, B = sparse.csr_matrix(Q), sparse.csr_matrix(XT)
    return sp_matmul_topn(A, B, top_n=k, n_threads=threads, sort=True)


def scipy_search(Q: sparse.csr_array, X: sparse.csr_array, k: int) -> list[np.ndarray]:
    """SciPy's sparse product in blocks, then a partial sort of each row."""
    neighbours = []
    for start in range(0, Q.shape[0], 500):
        product = sparse.csr_array(Q[start : start + 500] @ X.T)
        for row in range(product.shape[0]):
            data = product.data[product.indptr[row] : product.indptr[row + 1]]
            best = np.argpartition(-data, min(k, data.size - 1))[:k] if data.size else data
            neighbours.append(best)
    return neighbours


def batch(quick: bool) -> None:
    """Queries per second, all test documents at once."""
    print(f"\n### Batch search, k={K}\n")
    rows: list[list[object]] = []
    for name in CORPORA:
        X, Q = weighted(name)
        few = {"eurlex57k": 6_000, "yso-finna-en": 5_000}.get(name, Q.shape[0])
        Q = _sample(Q, min(few, 1_000 if quick else few))
        XT = X.T.tocsr()
        index = NeighborIndex(X)
        strategy = index.search(Q, K).strategy
        for threads in (1, 2):
            contenders = {
                "manylabel": lambda i=index, q=Q, t=threads: i.search(q, K, n_jobs=t),
                "sparse_dot_topn": lambda q=Q, xt=XT, t=threads: topn(q, xt, K, t),
            }
            times = best_of(2, contenders)
            if threads == 1:
                slow = _sample(Q, 200)
                factor = Q.shape[0] / slow.shape[0]
                brute = NearestNeighbors(n_neighbors=K, metric="cosine", algorithm="brute").fit(X)
                with single_threaded_blas():
                    peers = best_of(
                        1,
                        {
                            "scikit-learn": lambda b=brute, q=slow: b.kneighbors(q),
                            "SciPy": lambda q=slow, x=X: scipy_search(q, x, K),
                        },
                    )
                times |= {peer: seconds * factor for peer, seconds in peers.items()}
            ours = times["manylabel"]
            for peer, seconds in times.items():
                per_query = 1000 * seconds / Q.shape[0]
                label = f"manylabel ({strategy})" if peer == "manylabel" else peer
                rows.append([name, threads, label, Q.shape[0] / seconds, per_query, seconds / ours])
    header = ["corpus", "threads", "library", "queries/s", "ms/query", "times our time"]
    print(table(header, rows))


def leave_one_out(quick: bool) -> None:
    """Every training row's 50 nearest other rows."""
    print("\n### Leave-one-out over all training rows, k=50\n")
    X, _ = weighted("eurlex57k")
    if quick:
        X = X[:10_000]
    XT = X.T.tocsr()
    index = NeighborIndex(X)
    index.search_self(50, rows=np.arange(200))
    times = best_of(
        1,
        {
            "manylabel": lambda: index.search_self(50, n_jobs=2),
            "sparse_dot_topn": lambda: topn(X, XT, 51, 2),
        },
    )
    rows = [[2, name, seconds, seconds / times["manylabel"]] for name, seconds in times.items()]
    print(table(["threads", "library", "seconds", "times our time"], rows))


def build(quick: bool) -> None:
    """Time and memory of the index, beside a transposition."""
    print("\n### Building the index\n")
    rows: list[list[object]] = []
    for name in CORPORA:
        X, _ = weighted(name)
        NeighborIndex(X[:2000])
        times = best_of(5, {"index": lambda x=X: NeighborIndex(x), "tocsc": lambda x=X: x.tocsc()})
        index = NeighborIndex(X)
        arrays = index.arrays()
        columns = arrays["tiles"].nbytes
        rest = sum(array.nbytes for array in arrays.values()) - columns
        single = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        double = single + X.data.nbytes
        rows.append(
            [
                name, X.nnz, times["index"], times["index"] / times["tocsc"],
                rest / 1e6, columns / 1e6, rest / single, rest / double,
            ]
        )  # fmt: skip
    header = [
        "corpus", "non-zeros", "seconds", "times X.tocsc()", "MB", "columns, MB",
        "MB / float32 CSR", "MB / float64 CSR",
    ]  # fmt: skip
    print(table(header, rows))


def latency(quick: bool) -> None:
    """One query at a time, one thread, warm."""
    print(f"\n### One query at a time, one thread, k={K}\n")
    rows: list[list[object]] = []
    for name in CORPORA:
        X, Q = weighted(name)
        index = NeighborIndex(X)
        queries = [Q[[i]] for i in _rows(Q, 200 if quick else 1000)]
        for query in queries[:20]:
            index.search(query, K)
        times = []
        for query in queries:
            start = time.perf_counter()
            index.search(query, K)
            times.append(1000 * (time.perf_counter() - start))
        rows.append([name, float(np.median(times)), float(np.percentile(times, 99))])
    print(table(["corpus", "median ms", "99th percentile ms"], rows))


def papers_tables(quick: bool) -> None:
    """Candidates and time of the paper's algorithms: its tables 4 and 5 for our corpora."""
    print(f"\n### The paper's tables 4 and 5, k={K}, one thread\n")
    settings = [("fagin", 1), ("wand", 1)]
    settings += [("partitioned", m) for m in (1, 5, 20, 100, 500, 1000)]
    settings += [("taat", 1), ("maxscore", 1), ("hybrid", 1)]
    rows: list[list[object]] = []
    for name in CORPORA:
        X, Q = weighted(name)
        Q = _sample(Q, 50 if quick or name == "yso-finna-en" else 200)
        index = NeighborIndex(X)
        for strategy, m in settings:
            index.search(Q[:2], K, strategy=strategy, m=m)
            start = time.perf_counter()
            nearest = index.search(Q, K, strategy=strategy, m=m)
            seconds = time.perf_counter() - start
            candidates = nearest.candidates / Q.shape[0]
            title = f"{strategy}, m={m}" if strategy == "partitioned" else strategy
            rows.append(
                [
                    name, title, candidates, f"{candidates / X.shape[0]:.1%}",
                    nearest.postings / Q.shape[0], 1000 * seconds / Q.shape[0],
                ]
            )  # fmt: skip
    header = ["corpus", "strategy", "candidates", "of rows", "postings read", "ms/query"]
    print(table(header, rows))


def scaling(quick: bool) -> None:
    """Time per query as the index grows."""
    print(f"\n### Time a query as the index grows, one thread, k={K}\n")
    rows: list[list[object]] = []
    for name in ("eurlex57k", "yso-finna-en"):
        X, Q = weighted(name)
        Q = _sample(Q, 512)
        order = np.random.default_rng(0).permutation(X.shape[0])
        for parts in (8, 4, 2, 1):
            index = NeighborIndex(X[np.sort(order[: X.shape[0] // parts])])
            nearest = index.search(Q, K)
            seconds = best_of(2, {"search": lambda i=index, q=Q: i.search(q, K)})["search"]
            rows.append([name, len(index), nearest.strategy, 1000 * seconds / Q.shape[0]])
    print(table(["corpus", "rows", "strategy", "ms/query"], rows))


def amazoncat(quick: bool) -> None:
    """A synthetic corpus with AmazonCat's statistics; the paper needed 38 ms with 64 threads."""
    n_rows = 100_000 if quick else 1_186_239
    n_features, per_row = 203_882, 71
    print(f"\n### Synthetic AmazonCat: {n_rows:,} rows, {n_features:,} features, {per_row} a row\n")
    X = synthetic(n_rows, n_features, per_row, seed=0)
    Q = synthetic(512, n_features, per_row, seed=1)
    start = time.perf_counter()
    index = NeighborIndex(X)
    seconds = time.perf_counter() - start
    arrays = index.arrays()
    size = sum(array.nbytes for array in arrays.values())
    rows: list[list[object]] = []
    for threads in (1, 2):
        nearest = index.search(Q[:2], K, n_jobs=threads)
        took = best_of(2, {"search": lambda t=threads: index.search(Q, K, n_jobs=t)})["search"]
        nearest = index.search(Q, K, n_jobs=threads)
        rows.append([threads, nearest.strategy, 1000 * took / Q.shape[0]])
    print(table(["threads", "strategy", "ms/query"], rows))
    print(
        f"\nBuilt in {seconds:.1f} s; {size / 1e9:.2f} GB, {arrays['tiles'].nbytes / 1e9:.2f} of it"
    )
    print(f"columns; the matrix itself is {(X.data.nbytes + X.indices.nbytes) / 1e9:.2f} GB.")


def synthetic(n_rows: int, n_features: int, per_row: int, seed: int) -> sparse.csr_array:
    """Rows with Zipf-distributed features and tf-idf values."""
    rng = np.random.default_rng(seed)
    # The inverse of a Zipf law with exponent 1 over the features.
    draws = np.exp(rng.random((n_rows, per_row), np.float32) * np.float32(np.log(n_features)))
    features = np.minimum(draws.astype(np.int32), n_features) - 1
    del draws
    ptr = np.arange(n_rows + 1, dtype=np.int64) * per_row
    X = sparse.csr_array(
        (np.ones(features.size, np.float32), features.ravel(), ptr), shape=(n_rows, n_features)
    )
    X.sum_duplicates()
    X.data *= (1 + np.log1p(np.arange(n_features, dtype=np.float32)))[X.indices]
    return X


def _rows(Q: sparse.csr_array, n: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(Q.shape[0])[:n]


def _sample(Q: sparse.csr_array, n: int) -> sparse.csr_array:
    return Q if n >= Q.shape[0] else Q[_rows(Q, n)]


SECTIONS = {
    "batch": batch,
    "leave-one-out": leave_one_out,
    "build": build,
    "latency": latency,
    "papers-tables": papers_tables,
    "scaling": scaling,
    "amazoncat": amazoncat,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer queries and runs")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    arguments = parser.parse_args()
    print("## Neighbour search")
    print(
        "\n" + versions("manylabel", "sparse-dot-topn", "scikit-learn", "scipy", "numba", "numpy")
    )
    for name in arguments.only:
        SECTIONS[name](arguments.quick)


if __name__ == "__main__":
    main()

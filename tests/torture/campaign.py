"""A campaign of attacks: seeded, bounded, resumable. Run it with ``make torture``.

Each attack is a function of a seed that raises if manylabel fails it. Finished
attacks are recorded in a file of JSON Lines, and do not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy import sparse
from torture import cluster, faults, files, fuzz, power, server, threads
from torture.system_calls import Nothing

from manylabel import Tagger
from manylabel.base import MultiLabelClassifier
from manylabel.exceptions import ManylabelError
from manylabel.models import MODELS, make_model
from manylabel.store import manifest as manifests

TESTS = Path(__file__).parents[1]
TEXTS = [f"{a} {b} {c}" for a in ("cat", "dog", "owl") for b in ("sea", "hill") for c in "uvw"]
LABELS = [[text.split()[0], text.split()[1]] for text in TEXTS]
KINDS = tuple(MODELS)


@cache
def model_folder(kind: str) -> Path:
    """A small model, with a journal if it can learn."""
    folder = Path(tempfile.mkdtemp(prefix="torture-")) / "model"
    tagger = Tagger(kind, random_state=0).fit(TEXTS, LABELS)
    tagger.save(folder)
    if tagger._state.model.can_learn:
        tagger.learn(["owl sea zebra"], [["zebra"]], ["new"])
        tagger._folder.journal.close()
    return folder


def files_of(folder: Path) -> list[Path]:
    """The files of a model, in order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


@cache
def expected_answers(kind: str) -> object:
    """What the unchanged model says."""
    return answers(Tagger.load(model_folder(kind)))


def answers(tagger: Tagger) -> object:
    """Everything that a user sees of a model."""
    found = tagger.suggest(["cat sea", "owl zebra u"], top=None)
    return tagger.n_documents, [each.to_list() for each in found]


HOW = ("flip", "cut", "grow", "garbage", "remove", "swap", "other model", "link", "future")


def alter(seed: int) -> None:
    """One file of a model is changed: it is refused with an error, or answers the same.

    The seed counts through the kinds of models, their files, and what is done to a file.
    """
    rng = random.Random(seed)
    kind, rest = KINDS[seed % len(KINDS)], seed // len(KINDS)
    n_files = len(files_of(model_folder(kind)))
    turn, place = divmod(rest, n_files)
    if turn >= len(HOW):
        raise Nothing
    with tempfile.TemporaryDirectory() as made:
        folder = shutil.copytree(model_folder(kind), Path(made) / "model")
        path, how = files_of(folder)[place], HOW[(place + turn) % len(HOW)]
        change_file(path, folder, kind, how, rng)
        try:
            found = answers(Tagger.load(folder))
        except ManylabelError:
            return
        what = f"{how} of {path.relative_to(folder)} of {kind}"
        assert found == expected_answers(kind), f"{what}: another answer"


def change_file(path: Path, folder: Path, kind: str, how: str, rng: random.Random) -> None:
    """Change a file of a model."""
    content = bytearray(path.read_bytes())
    spot = rng.randrange(len(content)) if content else 0
    if how == "remove":
        path.unlink()
    elif how == "link":
        target = path.rename(folder.parent / "elsewhere")
        path.symlink_to(target)
    elif how in ("swap", "other model"):
        other = KINDS[(KINDS.index(kind) + 1) % len(KINDS)]
        source = folder if how == "swap" else model_folder(other)
        same = [each for each in files_of(source) if each.suffix == path.suffix]
        path.write_bytes(rng.choice(same or files_of(source)).read_bytes())
    elif how == "future" and path.name == "model.json":
        manifest = json.loads(content)
        manifest["version"] += 1
        del manifest["checksum"]
        path.write_bytes(manifests.as_bytes(manifest))
    else:
        if how == "flip" and content:
            content[spot] ^= 1 << rng.randrange(8)
        elif how == "cut":
            del content[spot:]
        elif how == "grow":
            content += rng.randbytes(rng.randrange(1, 5000))
        else:
            content[spot : spot + 64] = rng.randbytes(64)
        path.write_bytes(content)


def matrix(seed: int) -> None:
    """A hostile matrix for an estimator: an answer, or a one-sentence error."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array(rng.poisson(0.7, (20, 8)).astype(float))
    Y = sparse.csr_array((rng.random((20, 4)) < 0.4).astype(np.int8))
    how = [
        "range", "pointers", "unsorted", "duplicates", "int64", "zeros", "inf", "all", "none",
        "rows", "columns", "read-only", "float16",
    ]  # fmt: skip
    kind, name = how[seed % len(how)], list(MODELS)[seed // len(how) % len(MODELS)]
    if kind == "range":
        X.indices[rng.integers(X.nnz)] = rng.choice([-1, 8, 10**8])
    elif kind == "pointers":
        X.indptr[rng.integers(1, 20)] = rng.choice([-5, 10**8])
    elif kind == "unsorted":
        X.indices, X.data = X.indices[::-1].copy(), X.data[::-1].copy()
    elif kind == "duplicates":
        twice = [np.repeat(each, 2) for each in (X.data, X.indices)]
        X = sparse.csr_array((*twice, 2 * X.indptr), shape=X.shape)
    elif kind == "read-only":
        for array in (X.data, X.indices, X.indptr, Y.data, Y.indices, Y.indptr):
            array.flags.writeable = False
    elif kind == "float16":
        X.data = X.data.astype(np.float16)
    elif kind == "int64":
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    elif kind in ("zeros", "inf"):
        X.data[rng.integers(X.nnz)] = 0.0 if kind == "zeros" else np.inf
    elif kind in ("all", "none"):
        Y = sparse.csr_array(np.full((20, 4), kind == "all", np.int8))
    elif kind == "columns":
        X = X[:, :0]
    else:
        X, Y = X[:0], Y[:0]
    try:
        found = fitted(name, X, Y).predict(X)
    except ValueError as error:
        if not str(error):
            raise
        return
    if kind in ("unsorted", "duplicates", "int64", "zeros", "read-only"):
        plain = sparse.csr_array(sparse.coo_array(X.copy()))
        plain.sum_duplicates()
        plain.eliminate_zeros()
        expected = fitted(name, plain, Y).predict(plain)
        assert (found != expected).sum() == 0, f"{kind} for {name}: another answer"


def fitted(name: str, X: sparse.csr_array, Y: sparse.csr_array) -> MultiLabelClassifier:
    """A model with a fixed seed, if it has one."""
    model = make_model(name, {})
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, Y)


def kill(seed: int) -> None:
    """Ten times kill -9 on a learning process; no acknowledged change is lost."""
    with tempfile.TemporaryDirectory() as place:
        program = TESTS / "tagger" / "killing_taggers.py"
        command = [
            sys.executable,
            str(program),
            "kill_at_random",
            f"{place}/model",
            "10",
            str(seed),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-500:]


def craft(seed: int) -> None:
    """A wrong array with a right checksum, in one of several kinds of models."""
    files.craft(model_folder(KINDS[seed % len(KINDS)]), answers, seed)


ATTACKS = {
    "alter": alter,
    "craft": craft,
    "matrix": matrix,
    "threads": threads.attack,
    "kill": kill,
    "files": files.corpora,
    "fuzz": fuzz.attack,
    "killed": partial(faults.attack, "kill"),
    "full-disk": partial(faults.attack, "full"),
    "filled-disk": partial(faults.attack, "filled"),
    "broken-disk": partial(faults.attack, "broken"),
    "short-writes": partial(faults.attack, "short"),
    "power": power.attack,
    "server": server.attack,
    "cluster": cluster.attack,
}
#: At each call that writes.
FAULTS = frozenset(["killed", "full-disk", "filled-disk", "broken-disk", "short-writes"])


def run(attack: str, times: int, first: int, log: Path | None, seconds: float) -> Counter[str]:
    """Run attacks with consecutive seeds until the time is up, and count the outcomes."""
    known: dict[tuple[str, int], str] = {}
    if log is not None and log.exists():
        for line in log.read_text().splitlines():
            record = json.loads(line)
            known[record["attack"], record["seed"]] = record["result"]
    until, counts = time.monotonic() + seconds, Counter[str]()
    for seed in range(first, first + times):
        if (attack, seed) not in known:
            if time.monotonic() > until:
                break
            try:
                ATTACKS[attack](seed)
                known[attack, seed] = "survived"
            except Nothing:
                continue
            except Exception as error:
                known[attack, seed] = f"failed: {type(error).__name__}: {error}"[:500]
            if log is not None:
                record = {"attack": attack, "seed": seed, "result": known[attack, seed]}
                with open(log, "a") as file:
                    file.write(json.dumps(record) + "\n")
        counts[known[attack, seed].split(":")[0]] += 1
        if known[attack, seed] != "survived":
            print(attack, seed, known[attack, seed])
    return counts


def main() -> None:
    """Run the attacks that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000, help="seeds of each attack")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="for each attack")
    parser.add_argument("--log", type=Path, default=Path("torture.jsonl"))
    parser.add_argument("--attack", choices=ATTACKS, action="append")
    chosen = parser.parse_args()
    if FAULTS.intersection(chosen.attack or ATTACKS) and faults.library() is None:
        _start_again_with_faults()
    for name in chosen.attack or ATTACKS:
        counts = run(name, chosen.times, chosen.seed, chosen.log, chosen.seconds)
        print(name, dict(counts), flush=True)


def _start_again_with_faults() -> None:
    environment = faults.environment(Path(tempfile.mkdtemp(prefix="torture-")))
    if environment is None:
        print(
            "No C compiler: short writes and disks that stay full are not tried.", file=sys.stderr
        )
    else:
        os.execve(sys.executable, [*sys.orig_argv], environment)


if __name__ == "__main__":
    main()

"""Classes state what they can do, truly, and the shells ask them instead of probing."""

from __future__ import annotations

import ast
from copy import deepcopy
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manylabel.base import MultiLabelClassifier
from manylabel.models import MODELS, make_model, model_class
from manylabel.selection import Tuner

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "manylabel"
#: Packages that handle models of every kind.
SHELLS = ("cli", "compare", "models", "selection", "web")
#: Estimators that are not ours are recognised by what they can do, here and nowhere else.
ADAPTER = PACKAGE / "compare" / "adapter.py"
#: Comparisons of papers list the models that these papers compare.
PRESETS = PACKAGE / "compare" / "presets"
#: Quick settings, enough to learn something.
SMALL = {
    "dependency-lda": {"topic_burn_in": 20},
    "fastxml": {"n_trees": 3},
    "pfastrexml": {"n_trees": 3},
}


@pytest.fixture(scope="module")
def data():
    """Documents whose words depend on their labels."""
    rng = np.random.default_rng(7)
    Y = (rng.random((90, 6)) < 0.3).astype(np.int8)
    X = rng.poisson(0.1 + 2.0 * (Y @ (rng.random((6, 30)) < 0.25)))
    return sparse.csr_array(X.astype(float)), sparse.csr_array(Y)


@pytest.fixture(scope="module", params=MODELS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def trained(name, data):
    X, Y = data
    return make_model(name, SMALL.get(name)).fit(X[:70], Y[:70])


@pytest.fixture
def fitted(trained):
    """A copy, to be changed."""
    return deepcopy(trained)


def test_every_flag_stands_for_a_method(name):
    made = model_class(name)
    assert issubclass(made, MultiLabelClassifier)
    assert made.can_learn == hasattr(made, "partial_fit")
    assert made.can_forget == hasattr(made, "remove")
    assert made.can_explain == (made._explaining is not MultiLabelClassifier._explaining)
    assert bool(made.presets) == hasattr(made, "from_preset")
    assert bool(made.shared_parameters) == (
        made._share_work is not MultiLabelClassifier._share_work
    )


def test_scores_are_probabilities_where_the_class_says_so(fitted, data):
    scores = fitted.decision_function(data[0][70:]).data
    if type(fitted).gives_probabilities:
        assert scores.min() >= 0
        assert scores.max() <= 1
        # A label of probability p is true in about that share of cases.
        truth = data[1][70:]
        assert scores.sum() == pytest.approx(truth.nnz, rel=0.35)


def test_a_model_that_can_learn_knows_a_new_document_and_a_new_label(fitted, data):
    if not type(fitted).can_learn:
        return
    X, Y = data
    more = sparse.csr_array(sparse.hstack([Y[70:], sparse.csr_array(np.ones((20, 1), np.int8))]))
    fitted.partial_fit(X[70:], more)
    assert fitted.decision_function(X[70:]).shape == (20, 7)
    assert fitted.predict(X[70:])[:, [6]].nnz > 0


def test_a_model_that_can_forget_has_no_trace_of_a_label_of_forgotten_documents(fitted, data):
    if not type(fitted).can_forget:
        return
    X, Y = data
    carriers = np.flatnonzero(Y[:70].toarray()[:, 2])
    before = fitted.decision_function(X[carriers])[:, [2]].sum()
    fitted.remove(carriers)
    assert fitted.decision_function(X[carriers])[:, [2]].sum() < before


def test_a_model_that_can_explain_gives_reasons(fitted, data):
    if not type(fitted).can_explain:
        return
    [reasons] = fitted.explain(data[0][[75]], top=1)
    assert reasons[0].total == pytest.approx(reasons[0].score, rel=1e-6, abs=1e-9)


def test_every_preset_makes_a_model(name):
    for preset in model_class(name).presets:
        assert isinstance(make_model(name, preset=preset), model_class(name))


def test_the_default_grid_names_parameters_and_has_the_default_among_its_values(name):
    model = make_model(name)
    own = model.get_params(deep=False)
    assert model.default_grid
    for parameter, values in model.default_grid.items():
        # "auto" and None: the model chooses.
        assert own[parameter] in (*values, "auto", None)
        for value in values:
            make_model(name, {parameter: value})._check_parameters()


@pytest.mark.parametrize("model", sorted(set(MODELS) - {"ensemble"}))
def test_every_model_can_be_tuned(model, data):
    X, Y = data
    made = make_model(model, SMALL.get(model))
    parameter, values = next(iter(made.default_grid.items()))
    values = [value for value in values if not isinstance(value, int) or value < 60][:2]
    tuner = Tuner(made, grid={parameter: values}, cv=0.3).fit(X, Y)
    assert tuner.best_score_ >= tuner.trials_[0]["value"]
    assert tuner.predict(X).shape == Y.shape


def shell_files() -> list[Path]:
    found = chain.from_iterable(
        [PACKAGE / f"{package}.py"]
        if (PACKAGE / f"{package}.py").exists()
        else (PACKAGE / package).rglob("*.py")
        for package in SHELLS
    )
    return sorted(found)


def offences(path: Path) -> list[str]:
    """Methods of models that are probed for, and models or classes that are listed by name."""
    methods = {name for name in dir(MultiLabelClassifier) if not name.startswith("__")} | {
        "partial_fit",
        "remove",
        "explain",
        "from_preset",
        "predict_proba",
        "threshold_",
        "compact",
    }
    names = {*MODELS, *(model.class_name for model in MODELS.values())}
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        where = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            probes = node.func.id == "hasattr" or (
                node.func.id == "getattr" and len(node.args) == 3
            )
            asked = node.args[1] if probes else None
            if isinstance(asked, ast.Constant) and asked.value in methods:
                found.append(f"{where} probes for {asked.value}")
        listed = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        # A list of nothing but names: a name beside its parameters is a choice, not a list.
        strings = {item.value for item in listed if isinstance(item, ast.Constant)}
        if len(listed) == len(strings) and strings & names:
            found.append(f"{where} lists {', '.join(sorted(strings & names))}")
        if isinstance(node, ast.Compare) and any(
            isinstance(side, ast.Constant) and side.value in names
            for side in (node.left, *node.comparators)
        ):
            found.append(f"{where} compares with the name of a model")
    return found


@pytest.mark.parametrize("path", shell_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_shells_ask_classes_and_know_no_models_by_name(path):
    if path == ADAPTER or path == PACKAGE / "models.py" or PRESETS in path.parents:
        return
    assert offences(path) == []


def test_the_scan_finds_what_it_looks_for(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    path = tmp_path / "bad.py"
    path.write_text(
        'TUNABLE = ("lcif", "instance-knn")\n'
        'SLOW = {"Ensemble": 1}\n'
        'if hasattr(model, "explain") or getattr(model, "partial_fit", None):\n'
        "    pass\n"
        'chosen = name == "ensemble"\n'
        'fine = hasattr(error, "exit_code")\n'
    )
    assert sorted(offences(path)) == [
        "bad.py:1 lists instance-knn, lcif",
        "bad.py:2 lists Ensemble",
        "bad.py:3 probes for explain",
        "bad.py:3 probes for partial_fit",
        "bad.py:5 compares with the name of a model",
    ]

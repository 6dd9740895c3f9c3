"""Models whose arrays fit their checksums, and hold what no training makes, are refused."""

import numpy as np
import pytest

from manylabel import load, save
from manylabel.exceptions import ManylabelError
from manylabel.linear import OneVsRestSVM, SubsetSVM
from manylabel.trees import FastXML

rng = np.random.default_rng(0)
X = rng.poisson(0.4, (60, 20))
Y = (rng.random((60, 5)) < 0.3).astype(int)


def nan_in(array):
    array.flat[0] = np.nan


FORGED = {
    "weight": (OneVsRestSVM, lambda model: nan_in(model.coef_.data), "one of them is NaN"),
    "intercept": (OneVsRestSVM, lambda model: nan_in(model.intercept_), "one of them is NaN"),
    "idf": (OneVsRestSVM, lambda model: nan_in(model.weighting_.idf_), "one of them is NaN"),
    "labels": (
        OneVsRestSVM,
        lambda model: setattr(model, "intercept_", np.tile(model.intercept_, 2)),
        "each label needs one intercept",
    ),
    "subset": (SubsetSVM, lambda model: nan_in(model.scorer_.model.coef.data), "NaN"),
    "leaf": (
        FastXML,
        lambda model: model.forest_.leaf_labels.__setitem__(0, 99),
        "a leaf has a label that does not exist",
    ),
    "share": (FastXML, lambda model: nan_in(model.forest_.shares), "one of them is NaN"),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_numbers_are_refused_with_a_sentence(what, tmp_path):
    made, forge, said = FORGED[what]
    model = made(threshold="top-2").fit(X, Y)
    save(model, tmp_path / "sound")
    load(tmp_path / "sound").predict(X)
    forge(model)
    save(model, tmp_path / "forged")
    with pytest.raises(ManylabelError, match=said):
        load(tmp_path / "forged").predict(X)

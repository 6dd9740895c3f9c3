"""The models by name."""

from __future__ import annotations

import pytest
from sklearn.base import clone

from manylabel.exceptions import ParameterError
from manylabel.models import MODELS, make_model


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"ensemble"}))
def test_every_model_can_be_made_and_cloned(name):
    made = make_model(name)
    assert type(made).__name__ == MODELS[name].class_name
    assert clone(made).get_params().keys() == made.get_params().keys()


def test_a_name_brings_its_parameters_and_the_caller_may_change_them():
    assert make_model("tuned-svm").tuned
    assert not make_model("svm").tuned
    assert not make_model("tuned-svm", {"tuned": False}).tuned


def test_presets_come_below_given_parameters():
    model = make_model("prior-lda", {"eta": 3.0}, preset="rubin-yahoo")
    assert (model.eta, model.alpha_sum) == (3.0, 30.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lcfi",), "unknown model 'lcfi'; did you mean lcif?"),
        (("?",), "unknown model '?'; there are instance-knn, feature-knn, "),
        (("lcif", {"alhpa": 1}), "lcif has no parameter 'alhpa'; did you mean alpha?"),
        (("svm", None, "rubin-yahoo"), "svm has no presets; leave 'rubin-yahoo' out."),
    ],
)
def test_what_does_not_exist_is_refused_with_what_does(arguments, message):
    with pytest.raises(ParameterError) as error:
        make_model(*arguments)
    assert str(error.value).startswith(message)

"""The models by name: one table for the command line and the HTTP API.

A model's module is imported when the model is created, so the table itself costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from manylabel.exceptions import ParameterError

__all__ = ["MODELS", "Model", "make_model", "model_class"]


class Model(NamedTuple):
    """The class behind a model's name, and the parameters that the name implies."""

    module: str
    class_name: str
    #: Parameters that the name implies; the caller may override them.
    parameters: Mapping[str, Any]


#: Name -> model, grouped by family.
MODELS: dict[str, Model] = {
    "instance-knn": Model("manylabel.neighbors", "InstanceKNN", {}),
    "feature-knn": Model("manylabel.neighbors", "FeatureKNN", {}),
    "lcif": Model("manylabel.neighbors", "LCIF", {}),
    "ml-knn": Model("manylabel.neighbors", "MLkNN", {}),
    "br-knn": Model("manylabel.neighbors", "BRkNN", {}),
    "iblr": Model("manylabel.neighbors", "IBLR", {}),
    "flat-lda": Model("manylabel.topics", "FlatLDA", {}),
    "prior-lda": Model("manylabel.topics", "PriorLDA", {}),
    "dependency-lda": Model("manylabel.topics", "DependencyLDA", {}),
    "subset-llda": Model("manylabel.topics", "SubsetLLDA", {}),
    "svm": Model("manylabel.linear", "OneVsRestSVM", {}),
    "tuned-svm": Model("manylabel.linear", "OneVsRestSVM", {"tuned": True}),
    "subset-svm": Model("manylabel.linear", "SubsetSVM", {}),
    "fastxml": Model("manylabel.trees", "FastXML", {}),
    "pfastrexml": Model("manylabel.trees", "PfastreXML", {}),
    "ensemble": Model("manylabel.ensemble", "Ensemble", {}),
}


def model_class(name: str) -> Any:
    """The class behind a name.

    Examples
    --------
    >>> model_class("tuned-svm").__name__
    'OneVsRestSVM'
    """
    if name not in MODELS:
        near = get_close_matches(str(name), MODELS, n=3, cutoff=0.6)
        raise ParameterError(
            f"unknown model {name!r}; "
            + (f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(MODELS)}.")
        )
    model = MODELS[name]
    return getattr(import_module(model.module), model.class_name)


def make_model(
    name: str, parameters: Mapping[str, Any] | None = None, preset: str | None = None
) -> Any:
    """Create an unfitted model.

    Parameters
    ----------
    name : str
        A key of ``MODELS``.
    parameters : mapping, optional
        Parameters of the model's class; an unknown one is an error.
    preset : str, optional
        A paper's settings, such as ``"papanikolaou"``, for models that have presets;
        ``parameters`` override them.

    Returns
    -------
    An estimator.

    Examples
    --------
    >>> make_model("lcif", {"k": 5}).k
    5
    >>> make_model("prior-lda", preset="rubin-yahoo").eta
    70.0
    """
    made = model_class(name)
    given = dict(parameters or {})
    known = made().get_params(deep=False)
    for parameter in given:
        if parameter not in known:
            near = get_close_matches(parameter, known, n=3, cutoff=0.6)
            raise ParameterError(
                f"{name} has no parameter {parameter!r}; "
                + (f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(known)}.")
            )
    settings = {**MODELS[name].parameters, **given}
    if preset is None:
        return made(**settings)
    if not made.presets:
        raise ParameterError(f"{name} has no presets; leave {preset!r} out.")
    return made.from_preset(preset, **settings)

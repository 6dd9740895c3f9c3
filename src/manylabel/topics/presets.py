"""The papers' settings by name."""

from __future__ import annotations

from typing import Any

from manylabel.exceptions import ParameterError

__all__ = ["PRESETS", "preset", "presets_of"]

# Rubin et al., appendix B, with the rows of table 6 corrected.
_RUBIN: dict[str, Any] = {
    "inference": "cgs",
    "beta": 0.01,
    "train_eta": 50.0,
    "train_alpha_sum": 0.0,
    "train_chains": 48,
    "train_burn_in": 100,
    "train_samples": 1,
    "chains": 60,
    "burn_in": 50,
    "samples": 15,
    "lag": 5,
    "combine": "scaled",
}
_RUBIN_TOPICS: dict[str, Any] = {
    "topic_gamma": 0.01,
    "topic_chains": 10,
    "topic_burn_in": 500,
    "topic_samples": 1,
}
_POWER_LAW: dict[str, dict[str, Any]] = {
    "FlatLDA": {"alpha_sum": 180.0},
    "PriorLDA": {"eta": 150.0, "alpha_sum": 30.0, "label_beta": 1.0},
    "DependencyLDA": {
        "eta": 150.0,
        "alpha_sum": 30.0,
        "n_topics": 200,
        "label_beta": 0.01,
        "gamma_sum": 10.0,
    },
}
_YAHOO: dict[str, dict[str, Any]] = {
    "FlatLDA": {"alpha_sum": 100.0},
    "PriorLDA": {"eta": 70.0, "alpha_sum": 30.0, "label_beta": 10.0},
    "DependencyLDA": {
        "eta": 100.0,
        "alpha_sum": 1.0,
        "n_topics": 20,
        "label_beta": 1.0,
        "gamma_sum": 1.0,
    },
}
_RCV1: dict[str, dict[str, Any]] = {
    "FlatLDA": {"alpha_sum": 101.0},
    "PriorLDA": {"eta": 100.0, "alpha_sum": 1.0, "label_beta": 100.0},
    "DependencyLDA": {
        "eta": 100.0,
        "alpha_sum": 1.0,
        "n_topics": 100,
        "label_beta": 1.0,
        "gamma_sum": 10.0,
    },
}

# Papanikolaou and Tsoumakas, section 4: 200 sweeps, 50 of them burn-in, thirty samples. The L of
# their training prior 50 / L is read as the number of labels of the document, the only ones that
# its words can go to. All models rank by counts alone, without the prior added back.
_PAPANIKOLAOU: dict[str, Any] = {
    "inference": "cgs_p",
    "beta": 0.01,
    "train_eta": 50.0,
    "train_alpha_sum": 0.0,
    "train_chains": 1,
    "train_burn_in": 50,
    "train_samples": 30,
    "train_lag": 5,
    "alpha_sum": 30.0,
    "chains": 1,
    "burn_in": 50,
    "samples": 30,
    "lag": 5,
    "combine": "counts",
    "threshold": "top",
}
_PAPANIKOLAOU_MODELS: dict[str, dict[str, Any]] = {
    "FlatLDA": {},
    "PriorLDA": {"eta": 50.0, "label_beta": 0.0},
    "DependencyLDA": {
        "eta": 50.0,
        "n_topics": 100,
        "label_beta": 0.01,
        "topic_gamma": 0.1,
        "topic_chains": 1,
        "topic_burn_in": 50,
        "topic_samples": 30,
        "topic_lag": 5,
        "gamma_sum": 10.0,
    },
    "SubsetLLDA": {"eta": 50.0, "n_neighbors": 10, "power": 0.0},
}


def _rubin(models: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    topics = {"DependencyLDA": _RUBIN_TOPICS}
    return {
        model: {**_RUBIN, **topics.get(model, {}), **settings} for model, settings in models.items()
    }


PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "rubin-nyt": _rubin(_POWER_LAW),
    "rubin-eurlex": _rubin(_POWER_LAW),
    "rubin-yahoo": _rubin(_YAHOO),
    "rubin-rcv1": _rubin(_RCV1),
    "papanikolaou": {
        model: {**_PAPANIKOLAOU, **settings} for model, settings in _PAPANIKOLAOU_MODELS.items()
    },
}


def presets_of(model: str) -> tuple[str, ...]:
    """The presets that a model has.

    Examples
    --------
    >>> presets_of("SubsetLLDA")
    ('papanikolaou',)
    """
    return tuple(name for name, models in PRESETS.items() if model in models)


def preset(model: str, name: str) -> dict[str, Any]:
    """The parameters of one model in one preset.

    Examples
    --------
    >>> preset("PriorLDA", "rubin-yahoo")["eta"]
    70.0
    """
    if model not in PRESETS.get(name, {}):
        known = ", ".join(map(repr, presets_of(model)))
        raise ParameterError(f"the presets of {model} are {known}; got {name!r}.")
    return dict(PRESETS[name][model])

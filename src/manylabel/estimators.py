"""The parts of scikit-learn that every model uses.

scikit-learn imports pandas and SciPy's statistics in case it needs them. That takes longer than
loading a model, so these imports are deferred until their first use.
"""

from __future__ import annotations

from manylabel.lazy_modules import deferred

with deferred():
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        OneToOneFeatureMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import Tags, check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ConvergenceWarning",
    "OneToOneFeatureMixin",
    "Tags",
    "TransformerMixin",
    "check_classification_targets",
    "check_is_fitted",
    "check_random_state",
    "clone",
    "column_or_1d",
    "validate_data",
]

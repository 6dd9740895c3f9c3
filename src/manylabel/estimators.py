"""What we use of scikit-learn in every model.

scikit-learn imports pandas and SciPy's statistics to be ready for what others may give it. That
takes longer than a model takes to load, so it gets them when it uses them.
"""

from __future__ import annotations

from manylabel.later import postponed

with postponed():
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

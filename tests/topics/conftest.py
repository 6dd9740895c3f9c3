"""What the tests of topic models share."""

from __future__ import annotations

import pytest
from topics.topic_problems import generated

from manylabel.topics import train_phi


@pytest.fixture(scope="session")
def corpus():
    """Documents of the model itself to learn from, and others to label."""
    X, Y, _ = generated()
    return X[:250], Y[:250], X[250:], Y[250:]


@pytest.fixture(scope="session")
def training(corpus):
    return train_phi(corpus[0], corpus[1], random_state=0, burn_in=20)

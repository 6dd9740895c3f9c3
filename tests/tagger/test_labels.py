"""Labels by name."""

from __future__ import annotations

import pytest

from manylabel.exceptions import InputError
from manylabel.tagger.labels import Labels


@pytest.mark.parametrize("n_others", [10, 5000])
@pytest.mark.parametrize("asked", ["Shipwrecs", "shipwrecks"])
def test_whoever_misspells_a_label_is_told_the_right_one(n_others, asked):
    labels = Labels([*(f"label number {n}" for n in range(n_others)), "Shipwrecks"], {})
    with pytest.raises(InputError, match=r"labels known\); did you mean 'Shipwrecks'\?"):
        labels.columns([asked], "include")

"""A short run of the campaign; `make torture` runs the long one."""

from __future__ import annotations

import pytest
from torture.campaign import run


@pytest.mark.parametrize(
    ("attack", "times"), [("alter", 60), ("matrix", 40), ("threads", 1), ("kill", 1)]
)
def test_a_short_campaign(attack, times):
    counts = run(attack, times, 0, None, 10)
    assert counts["failed"] == 0
    assert counts["survived"] > 0

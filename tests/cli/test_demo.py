"""`manylabel demo`."""

from __future__ import annotations

import re

import pytest

from manylabel.cli import demo
from manylabel.cli.tables import suggestions_table

_CALLED, _PREPARED = [], []


@pytest.fixture
def shown(call, monkeypatch):
    """What the demo prints; it runs once."""
    if not _CALLED:
        prepare = demo.prepare
        monkeypatch.setattr(
            demo, "prepare", lambda *args, **named: remembered(prepare(*args, **named))
        )
        _CALLED.append(call("demo"))
    return _CALLED[0]


def remembered(prepared):
    _PREPARED.append(prepared)
    return prepared


@pytest.fixture
def measures(shown):
    """The measures that the demo prints, unrounded."""
    return _PREPARED[0].measures


def test_guessing_is_bad_and_every_model_is_clearly_better(measures):
    guessing, *models = measures.values()
    assert list(measures)[-1] == "the ensemble"
    for found in models:
        for name, value in found.items():
            assert value > 1.5 * guessing[name]


def test_the_demo_fits_eighty_columns_and_shows_everything(shown):
    assert shown.code == 0
    assert "Training" in shown.err
    assert max(map(len, shown.out.splitlines())) <= 80
    pieces = ("guessing by frequency", "the ensemble", "nDCG@5", "✓", "similar", "in its favour")
    for piece in (*pieces, "books like", "manylabel train"):
        assert piece in shown.out


def test_the_shares_that_the_demo_prints_add_up(shown):
    why = shown.out.split("in full:")[1]
    before, score = re.search(r"^((?: +[+-].*\n)+) +([+-][\d.]+) +Total", why, re.M).groups()
    parts = re.findall(r"[+-]\d+\.\d{4}", before)
    assert len(parts) > 2
    assert sum(map(float, parts)) == pytest.approx(float(score), abs=1e-3)


@pytest.mark.slow
def test_the_demo_has_its_tables_as_data(call, measures):
    found = call("demo", "--json").json
    assert found["statistics"]["train"]["documents"] == 489
    assert found["measures"] == measures


def printed(table) -> str:
    from rich.console import Console

    console = Console(width=80)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_true_labels_are_marked_and_missed_ones_added():
    lines = printed(suggestions_table([("cats", 0.5), ("dogs", 0.25)], ["cats", "birds"]))
    assert [line.split()[:2] for line in lines.splitlines()] == [
        ["✓", "cats"],
        ["dogs", "25"],
        ["✗", "birds"],
    ]


def test_suggestions_may_be_missing_or_without_score():
    assert printed(suggestions_table([], [])).strip() == ""
    assert printed(suggestions_table([("cats", 0.0)], [])).split() == ["cats", "0", "%"]

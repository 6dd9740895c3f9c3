"""`manylabel demo`."""

from __future__ import annotations

import re

import pytest

from manylabel.cli.demo import prepare
from manylabel.cli.showing import reasons_table, suggestions_table
from manylabel.evidence import Explanation, Reason


@pytest.fixture(scope="module")
def measures():
    return prepare().measures


def test_guessing_is_bad_and_neighbours_are_clearly_better(measures):
    guessing, *models = measures.values()
    for found in models:
        for name, value in found.items():
            assert value > 1.5 * guessing[name]


def test_the_demo_fits_eighty_columns_and_shows_everything(call):
    called = call("demo")
    assert called.code == 0
    assert "compiles" in called.err
    assert max(map(len, called.out.splitlines())) <= 80
    for piece in ("guessing by frequency", "nDCG@5", "✓", "similarity", "the word", "convert"):
        assert piece in called.out


def test_the_shares_that_the_demo_prints_add_up(call):
    lines = call("demo", "--quiet").out.split("Adds")[1].splitlines()
    *shares, score = [
        float(found[1]) for line in lines if (found := re.match(r" +(0\.\d+) ", line))
    ]
    assert len(shares) > 3
    assert sum(shares) == pytest.approx(score, abs=1e-9)


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
        ["dogs", "0.2500"],
        ["✗", "birds"],
    ]


def test_suggestions_may_be_missing_or_without_score():
    assert printed(suggestions_table([], [])).strip() == ""
    assert printed(suggestions_table([("cats", 0.0)], [])).split() == ["cats", "0.0000"]


def test_reasons_beyond_the_greatest_are_summed_up():
    reasons = (
        Reason("neighbour", 0.3, 7, 0.9, (Reason("word", 0.9, 1),)),
        Reason("word", 0.2, 1),
        Reason("bias", 0.1),
        Reason("prior", 0.05),
    )
    shown = printed(
        reasons_table(Explanation(0, 3, 0.65, reasons), "book {}".format, "word {}".format, top=3)
    )
    assert "0.3000   book 7 has it, similarity 0.90: word 1" in shown
    assert "0.2000   the word word 1 speaks for it" in shown
    assert "0.1000   bias" in shown
    assert "0.0500   of 1 smaller reasons" in shown
    assert "0.6500   is the score" in shown

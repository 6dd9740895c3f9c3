"""Questions and changes free their memory at once, without the garbage collector."""

from __future__ import annotations

import gc

import pytest

from manylabel import Tagger

TEXTS = [f"{a} {b}" for a in ("cat", "dog", "owl") for b in ("sea", "hill", "rain")]
LABELS = [text.split() for text in TEXTS]


@pytest.fixture(scope="module", params=["lcif", "ensemble"])
def tagger(request):
    tagger = Tagger(request.param, random_state=0).fit(TEXTS, LABELS)
    tagger.warm_up()
    return tagger


def suggest(tagger):
    return tagger.suggest("cat sea", top=3).to_list()


def explain(tagger):
    return tagger.explain("cat sea").to_dict()


def learn_and_forget(tagger):
    tagger.learn(["owl zoo"], [["owl"]], ["new"])
    tagger.forget("new")
    return suggest(tagger)


@pytest.mark.parametrize("act", [suggest, explain, learn_and_forget])
def test_no_cycles_are_left(tagger, act):
    assert act(tagger)
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            act(tagger)
        # Other threads of the process may leave a few.
        assert gc.collect() < 20
    finally:
        gc.enable()

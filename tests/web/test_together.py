"""Requests that wait at the same time share a call, and get the same answers as alone."""

from __future__ import annotations

import asyncio
import threading

import pytest

from manylabel.corpus import load_catalogue
from manylabel.tagger import Tagger
from manylabel.web import Settings
from manylabel.web.errors import ApiError
from manylabel.web.service import Service
from manylabel.web.workers import Workers


def answers_of(texts, call, keys=None, timeout=30.0, most_calls=1):
    """Answers or errors of texts that arrive at the same time."""

    async def all_of_them():
        workers = Workers(4, 100, timeout)
        workers._most_calls = most_calls
        waiting = [
            workers.read_text(key, text, call)
            for text, key in zip(texts, keys or [0] * len(texts), strict=True)
        ]
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.gather(*workers._tasks)
        assert (workers._begun, workers._n_calls, workers._waiting) == (0, 0, {})
        workers.close()
        return answers

    return asyncio.run(all_of_them())


@pytest.fixture
def calls():
    """What was called, and a function that writes it down and answers in capitals."""
    written = []

    def call(texts):
        written.append(list(texts))
        if "bad" in texts:
            raise ValueError("bad")
        return [text.upper() for text in texts]

    call.written = written
    return call


def test_texts_that_wait_share_a_call(calls):
    texts = [f"t{number}" for number in range(40)]
    assert answers_of(texts, calls) == [text.upper() for text in texts]
    # The first text does not wait for others.
    assert [len(call) for call in calls.written] == [1, 16, 16, 7]


def test_long_texts_share_a_call_with_few(calls):
    answers_of(["a", *["x" * 60_000] * 5], calls)
    assert [len(call) for call in calls.written] == [1, 2, 2, 1]


def test_only_texts_of_the_same_kind_share_a_call(calls):
    answers_of(["a", "b", "c", "d", "e"], calls, [0, 1, 2, 1, 2])
    assert calls.written == [["a"], ["b", "d"], ["c", "e"]]


def test_an_error_goes_to_the_text_that_causes_it(calls):
    first, second, wrong, last = answers_of(["a", "b", "bad", "d"], calls)
    assert (first, second, last) == ("A", "B", "D")
    assert isinstance(wrong, ValueError)
    assert calls.written == [["a"], ["b", "bad", "d"], ["b"], ["bad"], ["d"]]


def test_a_text_that_waits_too_long_is_given_up_and_not_read(calls):
    go_on = threading.Event()

    def slow(texts):
        calls.written.append(list(texts))
        assert go_on.wait(30)
        return texts

    threading.Timer(1.0, go_on.set).start()
    answers = answers_of(["a", "b"], slow, timeout=0.1)
    assert [type(answer) for answer in answers] == [ApiError, ApiError]
    assert answers[0].status == 503
    assert calls.written == [["a"]]


@pytest.fixture(scope="module")
def catalogue():
    return Tagger(random_state=0).fit(load_catalogue("train"))


@pytest.mark.parametrize(
    "choice",
    [
        {"top": 10, "threshold": None, "include": None, "exclude": None, "explain": False},
        {"top": 3, "threshold": 0.1, "include": None, "exclude": None, "explain": False},
        {"top": 10, "threshold": "auto", "include": None, "exclude": None, "explain": False},
    ],
)
def test_suggestions_are_the_same_to_the_last_bit(catalogue, choice):
    texts = [*load_catalogue("test").texts[:40], "zzz", "ship " * 3_000]
    alone = [list(catalogue.suggest(text, **choice)) for text in texts]

    async def at_once():
        service = Service({"catalogue": catalogue}, Settings())
        served = service.model(None)
        answers = await asyncio.gather(*(service.suggest(served, text, **choice) for text in texts))
        service.close()
        return [list(answer) for answer in answers]

    assert asyncio.run(at_once()) == alone

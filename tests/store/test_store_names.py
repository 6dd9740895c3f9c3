"""Classes in a model folder have registered names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from manylabel import load, save, store
from manylabel.exceptions import InputError, StoreError
from manylabel.store import classes, migrations
from manylabel.store.decoding import Former
from manylabel.thresholds import Fixed


class Plugin:
    """A class that manylabel has never heard of."""

    def __init__(self, weights):
        self.weights = weights


class Other:
    """Another."""


@pytest.fixture
def registered():
    """Registers classes for the time of a test."""
    known = []

    def register(cls, name=None):
        known.append(cls)
        return store.register(cls, name)

    yield register
    for cls in known:
        store.unregister(cls)


@pytest.mark.parametrize("name", classes.CLASSES)
def test_every_name_stands_for_a_class_that_knows_its_name(name):
    assert isinstance(classes.class_named(name), type)
    assert classes.name_of(classes.class_named(name)) == name


def test_names_of_the_first_format_stand_for_something_today():
    today = classes.CLASSES.keys() | classes.CONVERTERS.keys() | classes.VANISHED
    assert set(migrations._FIRST_NAMES.values()) <= today


def test_a_class_of_another_package_can_be_saved_and_loaded_while_it_is_registered(
    registered, tmp_path
):
    registered(Plugin, "my-plugin")
    save({"inside": [Plugin(np.arange(3))]}, tmp_path)
    assert '"class": "my-plugin"' in (tmp_path / "model.json").read_text()
    found = load(tmp_path)["inside"][0]
    assert type(found) is Plugin
    assert found.weights.tolist() == [0, 1, 2]
    store.unregister(Plugin)
    with pytest.raises(StoreError, match="has the class 'my-plugin', which"):
        load(tmp_path)
    with pytest.raises(StoreError, match=r"Plugin is not a type .* manylabel\.store\.register"):
        save(Plugin(1), tmp_path)


def test_registering_twice_is_registering_once(registered):
    assert registered(Plugin) is Plugin
    assert registered(Plugin) is Plugin
    assert classes.name_of(Plugin) == "Plugin"


def test_a_name_stands_for_one_class(registered):
    registered(Plugin, "taken")
    with pytest.raises(InputError, match="a class called 'taken' is already registered"):
        registered(Other, "taken")
    with pytest.raises(InputError, match="a class called 'LCIF' is already registered"):
        registered(Other, "LCIF")
    with pytest.raises(InputError, match="Plugin is already registered, as 'taken'"):
        registered(Plugin, "another")
    with pytest.raises(InputError, match="Fixed is already registered, as 'Fixed'"):
        registered(Fixed, "fixed")


@pytest.mark.parametrize("name", ["", "a.b", "a:b", "1a", "a b", "../a"])
def test_names_are_plain(registered, name):
    with pytest.raises(InputError, match="`name` must consist of letters, digits"):
        registered(Plugin, name)


@dataclass
class Whole:
    """What two former classes have become."""

    total: float


def whole(state):
    """A converter: the parts are objects of a class that is gone."""
    parts = state["parts"]
    assert all(isinstance(part, Former) and part.name == "OldPart" for part in parts)
    return Whole(sum(part.state["weights"].sum() for part in parts))


@pytest.fixture
def former(registered, monkeypatch, tmp_path):
    """The folder of an object whose class has changed since, with parts whose class is gone."""
    registered(Plugin, "OldPart")
    registered(Other, "OldWhole")
    thing = Other()
    thing.parts = [Plugin(np.array([1.0, 2.0])), Plugin(np.array([4.0]))]
    save(thing, tmp_path / "whole")
    save(thing.parts, tmp_path / "parts")
    for cls in (Plugin, Other):
        store.unregister(cls)
    monkeypatch.setitem(classes.CONVERTERS, "OldWhole", f"{__name__}:whole")
    classes.VANISHED.add("OldPart")
    yield tmp_path
    classes.VANISHED.discard("OldPart")


def test_a_converter_sees_the_attributes_of_what_is_gone(former):
    assert load(former / "whole") == Whole(7.0)


def test_what_is_gone_is_seen_by_converters_only(former):
    with pytest.raises(StoreError, match="has the class 'OldPart', which"):
        load(former / "parts")


def test_only_modules_of_the_table_are_imported(tmp_path):
    save(Fixed(), tmp_path / "model")
    content = json.loads((tmp_path / "model" / "model.json").read_text())
    assert content["model"]["object"]["class"] == "Fixed"
    program = (
        "import sys; from manylabel import load; "
        f"load({str(tmp_path / 'model')!r}); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    imported = re.findall(rb"manylabel\.(\w+)", done.stdout)
    assert b"thresholds" in imported
    assert not {b"neighbors", b"topics", b"trees", b"tagger", b"web"} & set(imported)

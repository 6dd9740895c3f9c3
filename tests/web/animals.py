"""A model of a few documents."""

from __future__ import annotations

from manylabel.tagger import Tagger

TEXTS = {
    "c1": ("A cat sleeps on the warm mat", ["cats", "sleep"]),
    "c2": ("The cat chases a mouse through the house", ["cats", "mice"]),
    "d1": ("The dog barks at the postman", ["dogs"]),
    "d2": ("A dog sleeps near the fire", ["dogs", "sleep"]),
    "m1": ("Mice eat cheese in the kitchen", ["mice"]),
}
#: Names of labels; one of them tries to be more than a name.
INFO = {"mice": "Mäuse", "dogs": "<b>Dogs</b>"}


def animals() -> Tagger:
    documents = TEXTS.values()
    return Tagger("lcif", parameters={"k": 3}).fit(
        [text for text, _ in documents],
        [labels for _, labels in documents],
        ids=list(TEXTS),
        label_info=INFO,
    )

"""Ensembles of trees over documents: FastXML and PfastreXML."""

from typing import TYPE_CHECKING

from manylabel.public import lazy_exports

if TYPE_CHECKING:
    from manylabel.trees.fastxml import FastXML
    from manylabel.trees.forest import Forest
    from manylabel.trees.pfastrexml import PfastreXML

__all__ = [
    "FastXML",
    "Forest",
    "PfastreXML",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "FastXML": "manylabel.trees.fastxml",
        "Forest": "manylabel.trees.forest",
        "PfastreXML": "manylabel.trees.pfastrexml",
    },
)

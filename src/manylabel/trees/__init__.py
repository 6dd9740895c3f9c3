"""Ensembles of trees over documents: FastXML and PfastreXML."""

from manylabel.trees.fastxml import FastXML
from manylabel.trees.forest import Forest
from manylabel.trees.pfastrexml import PfastreXML

__all__ = ["FastXML", "Forest", "PfastreXML"]

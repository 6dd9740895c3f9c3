"""The papers' comparisons by name, with their published values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from manylabel.compare.plan import Plan
from manylabel.compare.presets.corpora import data_folder
from manylabel.compare.presets.lcif import lcif, lcif_extreme
from manylabel.compare.presets.rubin import rubin
from manylabel.compare.presets.rubin_appendix import rubin_appendix
from manylabel.compare.presets.subset_llda import subset_llda, trade_off
from manylabel.compare.presets.xmc import xmc
from manylabel.exceptions import InputError, ParameterError

__all__ = ["PRESETS", "data_folder", "make_preset"]

#: Name -> function that makes the plan from the folder of the corpora.
PRESETS: dict[str, Callable[[Path], Plan]] = {
    "lcif-table-2": lcif,
    "lcif-table-3": lcif_extreme,
    "subset-llda-tables-2-4": subset_llda,
    "subset-llda-trade-off": trade_off,
    "rubin-figures-6-7-10-11": rubin,
    "rubin-appendix-b": rubin_appendix,
    "xmc": xmc,
}


def make_preset(name: str, data: Path, corpora: Sequence[str] | None = None) -> Plan:
    """Make the plan of a paper's comparison.

    Parameters
    ----------
    name : str
        A key of ``PRESETS``.
    data : Path
        A folder with a folder for each corpus; missing ones are left out.
    corpora : sequence of str, optional
        Use only these.
    """
    if name not in PRESETS:
        raise ParameterError(f"unknown preset {name!r}; there are {', '.join(PRESETS)}.")
    plan = PRESETS[name](data)
    known = [problem.name for problem in plan.problems]
    for corpus in corpora or ():
        if corpus not in known:
            raise ParameterError(f"{name} has no corpus {corpus!r}; it has {', '.join(known)}.")
    wanted = [each for each in plan.problems if corpora is None or each.name in corpora]
    there = tuple(each for each in wanted if Path(each.train).exists())
    if not there:
        raise InputError(
            f"{data} contains none of the corpora of {name} ({', '.join(known)}); give another "
            "folder with --data or MANYLABEL_DATA."
        )
    missing = [each.heading for each in wanted if each not in there]
    notes = [f"{heading} is left out: its files are missing." for heading in missing]
    return replace(plan, problems=there, notes=(*plan.notes, *notes))

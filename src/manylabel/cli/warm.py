"""``manylabel warm``: compile kernels in advance."""

from __future__ import annotations

from typing import Annotated

import typer

from manylabel.cli.compiling import compile_missing
from manylabel.cli.options import Debug, Quiet
from manylabel.cli.output import note

__all__ = ["warm"]


def warm(
    everything: Annotated[
        bool,
        typer.Option("--all", help="Kernels of all models, not only of the default one."),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            metavar="N",
            min=1,
            show_default=False,
            help="How many compile at the same time; by default one per core.",
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compile the kernels in advance, on all cores.

    manylabel compiles its loops for this computer once after an installation or update, when they
    are first used. After this command, the first prediction or training is as quick as any other.
    Useful in an image of a container, and before a demonstration.

    For example:
      manylabel warm
      manylabel warm --all
    """
    sets = ("small", "usual", "others") if everything else ("small", "usual")
    n_compiled = compile_missing(sets, processes, quiet, is_asked_for=True)
    note("Kernels are compiled." if n_compiled else "Kernels were compiled before.", quiet)

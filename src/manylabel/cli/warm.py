"""``manylabel warm``: compile all kernels in advance."""

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
        typer.Option("--all", help="Compile the kernels of all models, not only the default one."),
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            metavar="N",
            min=1,
            show_default=False,
            help="Processes that compile at the same time; by default one per core.",
        ),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compile the kernels in advance, on all cores.

    manylabel compiles its kernels for this computer once after an installation or update, when they
    are first used. After this command, the first training or prediction is as fast as any other.
    Use it when you build a container image, or before a demonstration.

    For example:
      manylabel warm
      manylabel warm --all
    """
    sets = ("small", "usual", "others") if everything else ("small", "usual")
    n_compiled = compile_missing(sets, processes, quiet, is_asked_for=True)
    note("Compiled the kernels." if n_compiled else "All kernels are already compiled.", quiet)

"""The command line: one file per command."""

from manylabel.cli.app import main

__all__ = ["main"]

"""The command line: one small file per command."""

from manylabel.cli.app import main

__all__ = ["main"]

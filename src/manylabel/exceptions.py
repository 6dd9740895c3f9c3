"""All errors that users see.

The classes are independent of the command line and the web server, which decide how to display
them. Each is also a built-in error, such as ValueError, so that code for scikit-learn catches it.
"""

from __future__ import annotations

__all__ = [
    "ClusterError",
    "CorpusError",
    "InputError",
    "JournalError",
    "ManylabelError",
    "MissingExtraError",
    "ParameterError",
    "StoreError",
]


class ManylabelError(Exception):
    """Base class of every error that manylabel raises on purpose."""


class InputError(ManylabelError, ValueError):
    """A matrix, text or label list that cannot be used as given."""


class ParameterError(ManylabelError, ValueError):
    """A parameter outside its domain."""


class CorpusError(ManylabelError, ValueError):
    """A file that breaks the rules of its format.

    Parameters
    ----------
    message : str
        What was found and what was expected, in one sentence.
    path : str, optional
        The file; ``-`` for standard input.
    line : int, optional
        The line, counted from 1.

    Examples
    --------
    >>> str(CorpusError("expected 3 numbers 'N M L', found 2.", path="train.txt", line=1))
    "train.txt, line 1: expected 3 numbers 'N M L', found 2."
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        self.message, self.path, self.line = message, path, line
        where = [part for part in (path, f"line {line}" if line is not None else None) if part]
        super().__init__(f"{', '.join(where)}: {message}" if where else message)


class StoreError(ManylabelError, ValueError):
    """A model folder that cannot be read or written.

    Parameters
    ----------
    message : str
        What is wrong and what to do, in one sentence.
    path : path, optional
        The file or folder.

    Examples
    --------
    >>> str(StoreError("the file is missing; save the model again.", "model/model.json"))
    'model/model.json: the file is missing; save the model again.'
    """

    def __init__(self, message: str, path: object = None) -> None:
        self.message, self.path = message, None if path is None else str(path)
        super().__init__(message if path is None else f"{path}: {message}")


class JournalError(StoreError):
    """The changes to a model since it was saved are lost or damaged, at least in part.

    Parameters
    ----------
    what : str
        What is wrong, without a full stop.
    path : path
        The file.
    without : str
        What is lost if the user continues.
    how : str
        How to continue.

    Examples
    --------
    >>> str(JournalError("the journal is damaged", "model/journal.sqlite", "it"))
    'model/journal.sqlite: the journal is damaged; restore the folder from a backup, or continue \
without it: Tagger.load(path, without_journal=True).'
    """

    def __init__(
        self,
        what: str,
        path: object,
        without: str = "the changes in the journal",
        how: str = "Tagger.load(path, without_journal=True)",
    ) -> None:
        self.what, self.without = what, without
        super().__init__(
            f"{what}; restore the folder from a backup, or continue without {without}: {how}.",
            path,
        )


class ClusterError(ManylabelError, RuntimeError):
    """A cluster that cannot be used, or no longer exists."""


class MissingExtraError(ManylabelError, ImportError):
    """An optional dependency is needed and not installed.

    Parameters
    ----------
    what : str
        What needs it, as the subject of a sentence.
    package : str
        The missing distribution.
    extra : str
        The extra of manylabel that installs it.

    Examples
    --------
    >>> str(MissingExtraError("Drawing plots", "matplotlib", "plot"))
    "Drawing plots needs matplotlib; install it with: pip install 'manylabel[plot]'"
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs {package}; install it with: pip install 'manylabel[{extra}]'"
        )

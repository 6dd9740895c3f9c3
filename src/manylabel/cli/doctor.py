"""``manylabel doctor``: show the installation."""

from __future__ import annotations

from typing import Any

from manylabel.cli.options import Data, Debug
from manylabel.cli.output import make_console, print_json, wants_data

__all__ = ["doctor"]


def doctor(as_json: Data = None, debug: Debug = False) -> None:
    """Show the installation: versions, caches, settings.

    Shows installed versions, the cache of compiled kernels, and environment variables. Include the
    output in bug reports.

    For example:
      manylabel doctor
      manylabel doctor --json
    """
    facts_by_title = _facts()
    if wants_data(as_json):
        print_json(facts_by_title)
        return
    from rich.table import Table
    from rich.text import Text

    console = make_console()
    for title, facts in facts_by_title.items():
        console.print(Text(title, "bold"))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts.items():
            table.add_row(Text(name), Text(_shown(value)))
        console.print(table)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _facts() -> dict[str, dict[str, Any]]:
    """Facts about the installation, by title."""
    return {
        "manylabel": _program(),
        "packages": _packages(),
        "kernels": _kernels(),
        "settings": _settings(),
    }


def _program() -> dict[str, Any]:
    import os
    import platform
    from pathlib import Path

    import manylabel

    return {
        "version": manylabel.__version__,
        "folder": str(Path(manylabel.__file__).parent),
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
    }


def _packages() -> dict[str, Any]:
    """Every package that manylabel may use, with its version or how to install it."""
    import re
    from importlib.metadata import PackageNotFoundError, requires, version

    versions: dict[str, Any] = {}
    try:
        needed = requires("manylabel") or []
    except PackageNotFoundError:
        return {"manylabel": "not installed; runs from source"}
    for line in needed:
        match = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
        name = "" if match is None else match[0]
        if name in ("", "manylabel") or (extra is not None and extra[1] in ("dev", "bench", "all")):
            continue
        try:
            versions.setdefault(name, version(name))
        except PackageNotFoundError:
            how = "" if extra is None else f"; pip install 'manylabel[{extra[1]}]'"
            versions.setdefault(name, f"not installed{how}")
    return versions


def _kernels() -> dict[str, Any]:
    """Where compiled kernels are cached, and which files have any."""
    import re
    from pathlib import Path

    from manylabel.kernels import compile, machine_code

    files = Path(compile.__file__).parent.glob("*.py")
    imported = re.compile(r"^from manylabel\.kernels\.compile import .*\bkernel\b", re.MULTILINE)
    ours = {path.stem for path in files if imported.search(path.read_text(encoding="utf-8"))}
    if machine_code.is_possible():
        kept, compiled = machine_code.folder(), machine_code.compiled_files()
    else:
        from manylabel.kernels.cache import cache_folder

        cache = cache_folder()
        kept = None if cache is None else Path(cache)
        listed = [] if kept is None else kept.glob("*.nbi")
        compiled = {path.name.partition(".")[0] for path in listed}
    nowhere = "nowhere: every start compiles them; set MANYLABEL_CACHE to a folder"
    return {
        "cached in": nowhere if kept is None else str(kept),
        "compiled": f"{len(compiled & ours)} of {len(ours)} files",
        "not yet compiled": ", ".join(sorted(ours - compiled)) or None,
    }


def _settings() -> dict[str, Any]:
    """Environment variables that change the behaviour; the values of secrets are hidden."""
    import os

    names = sorted(
        name
        for name in os.environ
        if name.startswith(("MANYLABEL_", "NUMBA_")) or name == "DASK_SCHEDULER_ADDRESS"
    )
    return {name: "set" if "TOKEN" in name else os.environ[name] for name in names}

"""Write the pages of ``docs/`` that follow from the code: ``make docs``.

A test compares the pages with what this file makes, so none of them is ever out of date.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from manylabel.cli.app import make_app
from manylabel.cli.arguments import arguments, usage
from manylabel.metrics import MEASURES

__all__ = ["PAGES", "main"]

DOCS = Path(__file__).parent
_HEAD = "<!-- Made by docs/generate.py: change the code, then run `make docs`. -->\n"
# Typer's own options; their help differs from version to version.
_COMPLETION = ("install_completion", "show_completion")
#: Options that this many commands have are explained once.
_MANY = 8
_NEEDS = {"scores": "scores", "labels": "label sets", "train": "training labels"}


def cli_page() -> str:
    """The commands with their help, arguments and options; options of many commands once."""
    group: Any = typer.main.get_command(make_app())
    counts = Counter(row for command in group.commands.values() for row in _rows(command).values())
    shared = {row for row, count in counts.items() if count >= _MANY and row.startswith("| `-")}
    parts = [_HEAD, "# The command line\n", *_section(group, "manylabel", ["COMMAND ..."], set())]
    parts.append(
        "`manylabel --install-completion` sets up completion in your shell, "
        "`manylabel --show-completion` prints what it would set up, and `--help` works after "
        "every command.\n"
    )
    for name, command in group.commands.items():
        parts += [f"## manylabel {name}\n", *_section(command, f"manylabel {name}", [], shared)]
    everywhere = dict.fromkeys(row for c in group.commands.values() for row in _rows(c).values())
    parts += [
        "## Shared options\n",
        "These options mean the same in every command that has them.\n",
    ]
    parts += [
        "| option or argument | meaning |\n|---|---|",
        *(row for row in everywhere if row in shared),
        "",
    ]
    return "\n".join(parts)


def _shown(command: Any) -> list[Any]:
    """The parameters that the page explains."""
    return [
        parameter
        for parameter in command.params
        if parameter.name not in _COMPLETION and "--help" not in parameter.opts
    ]


def _rows(command: Any) -> dict[str, str]:
    """The names of each parameter -> its row."""
    return {
        ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts)): (
            f"| {_spelling(parameter)} | {parameter.help}{_default(parameter)} |"
        )
        for parameter in _shown(command)
    }


def _section(command: Any, name: str, more: list[str], shared: set[str]) -> Iterator[str]:
    """Usage, help, a table of parameters, and the names of those that are explained elsewhere."""
    written = map(usage, arguments(command))
    yield f"```\n{' '.join([name, '[OPTIONS]', *written, *more])}\n```\n"
    text, _, examples = inspect.cleandoc(command.help).partition("\b\nFor example:\n")
    yield text.strip() + "\n"
    yield f"```\n{inspect.cleandoc(examples)}\n```\n"
    rows = _rows(command)
    own = [row for row in rows.values() if row not in shared]
    if own:
        yield "\n".join(["| option or argument | meaning |\n|---|---|", *own, ""])
    others = ", ".join(names for names, row in rows.items() if row in shared)
    if others:
        yield f"And these [shared options](#shared-options): {others}.\n"


def _spelling(parameter: Any) -> str:
    """How a parameter is written."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    metavar = f" {parameter.metavar}" if parameter.metavar else ""
    return ", ".join(f"`{name}{metavar}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _default(parameter: Any) -> str:
    """The default, unless it says nothing or the help names it."""
    default = parameter.default
    if isinstance(getattr(parameter, "show_default", None), str):
        default = parameter.show_default  # what None stands for
    if parameter.required or default in (None, "") or default is False:
        return ""
    if "default" in parameter.help.lower():
        return ""
    return f" Default: {parameter.opts[0] if default is True else default}."


def measures_page() -> str:
    """The measures in the order of reports."""
    rows = [
        f"| `{measure.name}` | {measure.description} | "
        f"{', '.join(word for part, word in _NEEDS.items() if part in measure.needs)} | "
        f"{'high' if measure.greater_is_better else 'low'} |"
        for measure in MEASURES.values()
    ]
    return "\n".join(
        [
            _HEAD,
            "# Measures\n",
            "`manylabel.metrics.evaluate` computes measures by name. Without names it computes "
            "every measure for which it has the input: see the column *needs*. Replace the k of "
            "`p@k` and the like by a number. Ties go to the lower label; labels without a score "
            "rank below all others.\n",
            "```python",
            "from manylabel.metrics import evaluate",
            "",
            "truth = [[1, 0, 1], [0, 1, 0]]",
            "scores = [[0.9, 0.5, 0.1], [0.2, 0.8, 0.1]]",
            'measured = evaluate(truth, scores, metrics=["p@1", "ndcg@3", "ranking-loss"])',
            'assert measured["p@1"] == 1.0',
            "```\n",
            "| name | meaning | needs | good is |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


#: Page -> what makes it.
PAGES: dict[Path, Callable[[], str]] = {
    DOCS / "reference" / "cli.md": cli_page,
    DOCS / "reference" / "measures.md": measures_page,
}


def main() -> None:
    """Write every page."""
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

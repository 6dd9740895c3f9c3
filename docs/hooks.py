"""What ``make site`` adds to MkDocs: the API reference, two pages from the root, and formulas."""

from __future__ import annotations

import inspect
import re
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import manylabel

ROOT = Path(__file__).parents[1]
#: Page of the site -> the file at the repository's root that it shows.
FROM_ROOT = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}
#: Public packages in the order in which a reader meets them -> what they are for.
PACKAGES = {
    "tagger": "Texts in, labels with reasons out.",
    "corpus": "Read, write, split and describe corpora.",
    "text": "Texts to counts to weights.",
    "vocabulary": "What labels are called.",
    "ensemble": "The default model.",
    "neighbors": "The exact index, and the models built on neighbours.",
    "linear": "Linear SVMs.",
    "topics": "Labelled topic models.",
    "trees": "FastXML and PfastreXML.",
    "selection": "Tuning.",
    "thresholds": "From scores to label sets.",
    "metrics": "Measures.",
    "evidence": "The reasons for a score.",
    "audit": "Wrong and missing labels.",
    "compare": "Models side by side.",
    "store": "The model folder.",
    "web": "The HTTP API as an ASGI application.",
    "distributed": "The same work on a Dask cluster.",
    "scoring": "Write your own scorer or candidate source.",
    "exceptions": "Every error that manylabel raises.",
}
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def pages() -> dict[str, str]:
    """The pages that are not files of ``docs/``: path -> Markdown."""
    made = {}
    for name, source in FROM_ROOT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        made[name] = text.replace("](docs/", "](")  # the root's links, seen from docs/
    made["reference/api/index.md"] = api_index()
    for package, purpose in PACKAGES.items():
        names = "".join(f"\n::: manylabel.{package}.{name}\n" for name, _ in public(package))
        made[f"reference/api/{package}.md"] = f"# manylabel.{package}\n\n{purpose}\n{names}"
    return made


def public(package: str) -> list[tuple[str, Any]]:
    """The classes and functions that a package exports, what it is named after first."""
    module = import_module(f"manylabel.{package}")
    names = sorted(module.__all__, key=lambda name: name.lower() != package)
    things = ((name, getattr(module, name)) for name in names)
    return [(name, thing) for name, thing in things if callable(thing)]


def api_index() -> str:
    """Every public name with the first sentence of its docstring."""
    names = ", ".join(f"`{name}`" for name in sorted(manylabel.__all__, key=str.lower))
    parts = ["# Python API\n", f"Import the most used names from `manylabel` itself: {names}.\n"]
    for package, purpose in PACKAGES.items():
        parts += [
            f"## [manylabel.{package}]({package}.md)\n",
            f"{purpose}\n",
            "| name | meaning |\n|---|---|",
        ]
        for name, thing in public(package):
            first = inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0]
            text = first.replace("\n", " ").replace("|", r"\|").replace("``", "`")
            parts.append(f"| [`{name}`]({package}.md#manylabel.{package}.{name}) | {text} |")
        parts.append("")
    return "\n".join(parts)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of ``docs/``."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Let links to files of the root lead to their pages on the site."""
    for name, source in FROM_ROOT.items():
        markdown = re.sub(rf"\]\(\.\./((?:\.\./)*){source}", rf"](\1{name}", markdown)
    return markdown


def on_page_content(html: str, **_: object) -> str:
    """Turn LaTeX into MathML, which browsers draw without any script."""
    return _FORMULA.sub(lambda match: mathml(match[3], display=match[2] == "["), html)


def mathml(latex: str, *, display: bool) -> str:
    """One formula; a command that the converter does not know ends the build."""
    made = convert(unescape(latex).strip(), display="block" if display else "inline")
    if "\\" in made:
        raise PluginError(f"Cannot write this formula as MathML: {latex}")
    made = made.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')  # norms
    made = made.replace("&#x02032;", "&#x00027;")  # primes that need no mathematical font
    return f'<div class="formula">{made}</div>' if display else made

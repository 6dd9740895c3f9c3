"""Draw the charts of docs/benchmarks/index.md from the tables that the documentation keeps.

python docs/make_charts.py
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.ticker import MultipleLocator

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
#: Grey is readable on a white and on a dark page.
INK, OURS, THEIRS = "#808080", "#009688", "#b0723a"


def table(page: str, headings: list[str], first: str) -> list[list[str]]:
    """The rows, header first, of the table below some headings whose first cell is given."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for heading in headings:
        text = text[text.index(f"\n{heading}\n") :]
    match = re.search(rf"(?:^\| *{re.escape(first)} *\|.*\n)(?:^\|.*\n)+", text, re.MULTILINE)
    assert match, f"{page} has no table {first!r} below {headings}"
    lines = [line.strip().strip("|") for line in match[0].splitlines()]
    return [[cell.strip() for cell in line.split("|")] for line in (lines[0], *lines[2:])]


def number(cell: str) -> float:
    """The number in a cell such as ``**1,234**``, ``≈ 0.9`` or ``.904``."""
    return float(re.sub(r"[*≈,\s]", "", cell))


def figure(width: float = 8.0, columns: int = 1, height: float = 3.4) -> tuple[Any, Any]:
    """An empty figure in the colours of the page."""
    mpl.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "manylabel",
            "font.size": 9.5,
            "font.family": "sans-serif",
            "axes.spines.top": False,
            "axes.spines.right": False,
            **{f"axes.{name}": INK for name in ("edgecolor", "labelcolor", "titlecolor")},
            **dict.fromkeys(("text.color", "xtick.color", "ytick.color"), INK),
        }
    )
    return plt.subplots(1, columns, figsize=(width, height), layout="constrained")


def accuracy_and_time() -> Any:
    """P@5 against CPU seconds of training, on two corpora."""
    drawn, both_axes = figure(9, columns=2)
    scales = {
        "EURLEX57K": (0.01, [5, 10, 30, 100, 300]),
        "YSO-Finna": (0.005, [50, 100, 300, 1000]),
    }
    for axes, (corpus, (step, seconds)) in zip(both_axes, scales.items(), strict=True):
        header, *rows = table("benchmarks/tables.md", ["### Efforts"], corpus)
        for row in rows:
            values = dict(zip(header, row, strict=True))
            system, _, effort = values[corpus].partition(", ")
            color = OURS if effort else THEIRS
            is_text = system == "`manylabel train`"
            name = f"{effort}, from texts" if is_text else effort or system
            x, y = number(values["train, CPU s"]), number(values["P@5"])
            axes.plot(x, y, "o", color=color, markersize=8)
            # Names of ours are to the left of their points, those of others to the right.
            # On titles, quick and normal are nearly in one place.
            is_left = color == OURS and (corpus, name) != ("YSO-Finna", "normal")
            shift, side = ((-9, 1), "right") if is_left else ((9, -3), "left")
            if is_text:
                shift = (-9, -8) if effort == "quick" else (-9, 2)
            axes.annotate(
                name, (x, y), xytext=shift, textcoords="offset points", ha=side, color=color
            )
        axes.set(xscale="log", xlabel="CPU seconds to train", title=corpus)
        axes.margins(y=0.15)
        axes.set_xlim(seconds[0], seconds[-1])
        axes.set_xticks(seconds, [f"{each:,}" for each in seconds])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(MultipleLocator(step))
        axes.yaxis.set_major_formatter("{x:.3f}")
    both_axes[0].set_ylabel("P@5 on test documents")
    return drawn


def search_speed() -> Any:
    """How many times as fast as three libraries, 100 nearest rows, one thread."""
    drawn, axes = figure()
    rows = table("benchmarks/tables.md", ["### Batch search, k=100"], "corpus")[1:]
    titles = {
        "eurlex57k": "EURLEX57K\n45,000 laws",
        "yso-finna-en": "YSO-Finna\n588,108 titles",
        "bibtex": "Bibtex\n4,880 entries",
        "delicious": "Delicious\n12,920 pages",
    }
    colors = {"sparse_dot_topn": "#00695c", "scikit-learn": "#26a69a", "SciPy": "#80cbc4"}
    for shift, (library, color) in enumerate(colors.items()):
        for spot, corpus in enumerate(titles):
            ratio = next(number(row[5]) for row in rows if row[:3] == [corpus, "1", library])
            x = spot + (shift - 1) * 0.27
            label = f"compared with {library}" if spot == 0 else None
            # Bars start at 1, where both are equally fast.
            axes.bar(x, ratio - 1, 0.25, bottom=1, color=color, label=label)
            above = ratio > 1
            text = f"{ratio:.1f}×" if ratio < 20 else f"{ratio:.0f}×"
            axes.annotate(
                text,
                (x, ratio),
                xytext=(0, 2 if above else -2),
                textcoords="offset points",
                ha="center",
                va="bottom" if above else "top",
            )
    axes.axhline(1, color=INK, linewidth=1)
    axes.set(yscale="log", ylabel="manylabel, times as fast")
    axes.set_ylim(0.5, 100)
    axes.set_yticks([0.5, 1, 2, 5, 10, 50], ["0.5", "1", "2", "5", "10", "50"])
    axes.minorticks_off()
    axes.set_xticks(range(len(titles)), titles.values())
    axes.legend(frameon=False, loc="upper right")
    return drawn


def learning_curve() -> Any:
    """P@1 on YSO-Finna titles against the number of training titles."""
    drawn, axes = figure(5.0, height=3.8)  # readable at half the width of the README
    rows = table("howto/vocabularies.md", ["## What it is worth"], "training titles")
    styles = {
        "manylabel with names": (OURS, "o-"),
        "manylabel without names": (OURS, "o:"),
        "Annif MLLM": (THEIRS, "s-"),
        "Annif Bonsai": (THEIRS, "s:"),
        "Annif ensemble": (THEIRS, "^--"),
    }
    for column, name in enumerate(rows[0][1:], start=1):
        points = [
            (number(row[0]), number(row[column].split("/")[0])) for row in rows[1:] if row[column]
        ]
        color, style = styles[name]
        axes.plot(*zip(*points, strict=True), style, color=color, label=name)
    axes.set_xscale("symlog", linthresh=100)
    sizes = [number(row[0]) for row in rows[1:]]
    axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
    axes.minorticks_off()
    axes.set(xlabel="training titles", ylabel="P@1 on test titles", ylim=(0, 0.42))
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 1.04))
    return drawn


def what_next(documents: str = "laws") -> Any:
    """nDCG@5 against the number of labelled documents, by the order in which they get labels."""
    drawn, axes = figure()
    section = ["## What to label next (2026-11-17)"]
    rows = table("benchmarks/tables.md", section, f"{documents} with labels")
    sizes = [number(cell) for cell in rows[0][1:]]
    styles = {"random order": (INK, "s--"), "words": (OURS, "^:")}
    for name, *cells in rows[1:]:
        color, style = styles.get(name, (OURS, "o-"))
        axes.plot(sizes, [number(cell) for cell in cells], style, color=color, label=name)
    axes.set(xscale="log", xlabel=f"{documents} with labels")
    axes.set_ylabel(f"nDCG@5 on other {documents}")
    axes.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
    axes.minorticks_off()
    axes.legend(frameon=False, loc="lower right")
    return drawn


#: File -> what draws it.
CHARTS: dict[str, Callable[[], Any]] = {
    "accuracy-and-time.svg": accuracy_and_time,
    "search-speed.svg": search_speed,
    "learning-curve.svg": learning_curve,
    "what-next.svg": what_next,
    "what-next-titles.svg": lambda: what_next("titles"),
}


def main() -> None:
    """Write every chart."""
    for name, draw in CHARTS.items():
        drawn = draw()
        drawn.savefig(IMAGES / name, transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(drawn)


if __name__ == "__main__":
    main()

"""Draw the two diagrams of docs/architecture.md.

python docs/make_diagrams.py
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
#: Pale boxes with dark letters are readable on a white and on a dark page.
FILLS = {
    "shell": "#ffe0b2",
    "core": "#b2dfdb",
    "model": "#c5cae9",
    "base": "#dcedc8",
    "data": "#eceff1",
}
LINE = "#808080"


class Drawing:
    """Boxes and arrows, collected as SVG."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, kind: str, *lines: str) -> None:
        """A box; its first line is bold."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{FILLS[kind]}"/>'
        )
        top = y + height / 2 - 8.5 * (len(lines) - 1) + 4.5
        for position, line in enumerate(lines):
            style = 'font-weight="600"' if position == 0 else 'font-size="12" fill="#37474f"'
            self.parts.append(
                f'<text x="{x + width / 2}" y="{top + 17 * position}" text-anchor="middle" {style}>'
                f"{escape(line)}</text>"
            )

    def frame(self, x: int, y: int, width: int, height: int) -> None:
        """A line around boxes that belong together."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="none" '
            f'stroke="{LINE}" stroke-width="1.2" stroke-dasharray="4 4"/>'
        )

    def arrow(self, x1: int, y1: int, x2: int, y2: int) -> None:
        """A straight arrow."""
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{LINE}" stroke-width="1.6" '
            'marker-end="url(#tip)"/>'
        )

    def note(self, x: int, y: int, text: str, anchor: str = "start") -> None:
        """Small grey letters."""
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="12" fill="{LINE}" text-anchor="{anchor}">'
            f"{escape(text)}</text>"
        )

    def svg(self) -> str:
        """The picture."""
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" role="img" font-family="system-ui, sans-serif" font-size="14" '
            f'fill="#1c262b">\n<title>{escape(self.title)}</title>\n'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{LINE}"/></marker>'
            f"</defs>\n{body}\n</svg>\n"
        )


def architecture() -> Drawing:
    """The layers of the package, the highest above."""
    drawing = Drawing(840, 470, "The layers of manylabel")
    rows: list[tuple[str, list[tuple[str, str]]]] = [
        ("shell", [("cli", "commands"), ("web", "HTTP API, page"), ("compare", "side by side")]),
        ("core", [("tagger", "texts in, labels out"), ("distributed", "Dask")]),
        (
            "core",
            [("ensemble", "the default model"), ("selection", "tuning"), ("audit", "wrong labels")],
        ),
        (
            "model",
            [
                ("neighbors", "index, LCIF, kNN"),
                ("linear", "SVMs"),
                ("topics", "labelled LDA"),
                ("trees", "FastXML"),
                ("vectors, network", "and regression"),
            ],
        ),
        (
            "base",
            [
                ("scoring", "documents, candidates"),
                ("vocabulary", "names of labels"),
                ("base", "the contract"),
                ("store", "model folders"),
            ],
        ),
        (
            "base",
            [
                ("corpus", "formats"),
                ("text", "counts, tf-idf"),
                ("thresholds", "label sets"),
                ("metrics", "measures"),
                ("evidence", "reasons"),
            ],
        ),
        ("data", [("kernels", "Numba, serial"), ("parallel", "threads"), ("exceptions", "errors")]),
    ]
    left, width, gap = 10, 820, 10
    for position, (kind, boxes) in enumerate(rows):
        wide = (width - gap * (len(boxes) - 1)) // len(boxes)
        for column, (name, purpose) in enumerate(boxes):
            drawing.box(
                left + column * (wide + gap), 10 + 62 * position, wide, 50, kind, name, purpose
            )
    note = "Imports never go up. Each row here groups several layers of the table."
    drawing.note(420, 460, note, "middle")
    return drawing


def suggestion() -> Drawing:
    """What happens to one text."""
    drawing = Drawing(840, 330, "Data flow of one suggestion")
    drawing.box(10, 120, 110, 70, "data", "text", "“Who looked", "after the dogs?”")
    drawing.box(155, 120, 125, 70, "base", "Documents", "counts, tf-idf,", "pairs of words")
    drawing.box(320, 45, 160, 60, "model", "neighbours", "100 most similar")
    drawing.box(320, 205, 160, 60, "model", "other sources", "words, names, vectors")
    drawing.box(515, 120, 120, 70, "base", "Candidates", "about 100 labels", "per document")
    drawing.frame(672, 12, 162, 206)
    for position, (name, purpose) in enumerate(
        [
            ("votes", "neighbours, words"),
            ("linear", "SVM per label"),
            ("topics", "words per label"),
            ("vectors", "of words and labels"),
        ]
    ):
        drawing.box(680, 20 + 49 * position, 146, 43, "model", name, purpose)
    drawing.box(672, 254, 162, 66, "core", "Combination", "curves add up", "to log-odds")
    for arrow in (
        (120, 155, 152, 155),
        (280, 140, 317, 85),
        (280, 170, 317, 225),
        (480, 85, 512, 140),
        (480, 225, 512, 170),
        (635, 155, 669, 155),
        (753, 218, 753, 251),
        (672, 303, 634, 303),
    ):
        drawing.arrow(*arrow)
    drawing.box(330, 284, 300, 38, "shell", "labels, probabilities, reasons")
    drawing.note(10, 30, "One search feeds every scorer. A score is a")
    drawing.note(10, 47, "sum, and its terms are the reasons.")
    return drawing


#: File -> what draws it.
DIAGRAMS: dict[str, Callable[[], Drawing]] = {
    "architecture.svg": architecture,
    "suggestion.svg": suggestion,
}


def main() -> None:
    """Write every diagram."""
    for name, draw in DIAGRAMS.items():
        (IMAGES / name).write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()

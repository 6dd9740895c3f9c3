"""Draw the moving terminal of the README from what the commands really print.

python docs/make_images.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from manylabel.corpus import load_catalogue, write

PICTURE = Path(__file__).parent / "images" / "demo.svg"
TEXT = "A ship is caught in the ice of the north"
#: What is typed -> how many lines of the answer are shown, without empty ones, and options that
#: make it look as in a terminal.
COMMANDS: dict[str, tuple[int, list[str]]] = {
    "manylabel train books.jsonl -o model --quiet": (0, []),
    f'manylabel predict model --text "{TEXT}" --top 3': (4, ["--to", "table"]),
    f'manylabel explain model --text "{TEXT}" --top 1': (7, ["--table"]),
}
COLUMNS = 92
CHARACTER, LINE, EDGE, BAR = 8.0, 18.0, 16.0, 34.0
#: Seconds: between typed words, between lines of an answer, after a command, at the end.
WORD, REPLY, PAUSE, END = 0.16, 0.08, 1.0, 5.0


def answers() -> dict[str, list[str]]:
    """What the commands print, messages first, on the bundled catalogue."""
    environment = os.environ | {"COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    lines_of = {}
    warm = [sys.executable, "-m", "manylabel.cli", "warm", "--quiet"]
    subprocess.run(warm, check=True)  # noqa: S603
    with tempfile.TemporaryDirectory() as folder:
        write(load_catalogue("train"), Path(folder) / "books.jsonl")
        for command, (lines, more) in COMMANDS.items():
            typed = command.replace(f'"{TEXT}"', "TEXT").split()
            arguments = [TEXT if word == "TEXT" else word for word in typed[1:]]
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "manylabel.cli", *arguments, *more],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            printed = (done.stderr + done.stdout).expandtabs(20).splitlines()
            lines_of[command] = [line.rstrip() for line in printed if line.strip()][:lines]
    return lines_of


class Terminal:
    """Words that appear one after the other, in a loop."""

    def __init__(self) -> None:
        self.time, self.row = 0.4, 0
        self.words: list[tuple[float, float, int, str, str]] = []

    def write(self, text: str, kind: str, column: int = 0) -> None:
        """Put text in the current row at the current time."""
        self.words.append((self.time, EDGE + column * CHARACTER, self.row, text, kind))

    def command(self, command: str, answer: list[str]) -> None:
        """Type a command, then show its answer."""
        self.write("$", "prompt")
        column = 2
        for word in command.split(" "):
            self.time += WORD
            self.write(word, "typed", column)
            column += len(word) + 1
        self.time += PAUSE / 2
        for line in answer:
            self.row += 1
            self.time += REPLY
            if line:
                self.write(line, "answer")
        self.row += 2
        self.time += PAUSE

    def svg(self) -> str:
        """The picture."""
        total = self.time + END
        width = 2 * EDGE + COLUMNS * CHARACTER
        height = BAR + (self.row - 1) * LINE + EDGE
        styles, texts = [], []
        for number, (time, x, row, text, kind) in enumerate(self.words):
            start = 100 * time / total
            styles.append(
                f"@keyframes k{number}{{0%,{start:.2f}%{{opacity:0}}"
                f"{start + 0.01:.2f}%,100%{{opacity:1}}}}"
                f".w{number}{{animation:k{number} {total:.1f}s infinite}}"
            )
            texts.append(
                f'<text class="{kind} w{number}" x="{x:.1f}" y="{BAR + (row + 0.8) * LINE:.1f}" '
                f'textLength="{len(text) * CHARACTER:.1f}" xml:space="preserve">'
                f"{escape(text)}</text>"
            )
        dots = "".join(
            f'<circle cx="{20 + 18 * position}" cy="16" r="5.5" fill="{color}"/>'
            for position, color in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" role="img">\n'
            "<title>Train, predict and explain in a terminal</title>\n<style>\n"
            "text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
            "white-space:pre}\n"
            ".prompt{fill:#4db6ac}.typed{fill:#fff;font-weight:600}.answer{fill:#b0bec5}\n"
            + "\n".join(styles)
            + "\n@media (prefers-reduced-motion:reduce){text{animation:none!important}}\n</style>\n"
            f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="#1e272c"/>{dots}\n'
            + "\n".join(texts)
            + "\n</svg>\n"
        )


def main() -> None:
    """Write docs/images/demo.svg."""
    terminal = Terminal()
    for command, answer in answers().items():
        terminal.command(command, answer)
    PICTURE.write_text(terminal.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()

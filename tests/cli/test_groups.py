"""Options that several commands share are defined once and read the same everywhere."""

from __future__ import annotations

from dataclasses import fields

import typer

from manylabel.cli.app import make_app
from manylabel.cli.reading import Reading
from manylabel.cli.words import Words

COMMANDS = typer.main.get_command(make_app()).commands


def options_of(command) -> dict[str, str]:
    return {option.name: option.help for option in command.params}


def commands_with(group) -> dict[str, dict[str, str]]:
    names = {field.name for field in fields(group)}
    found = {name: options_of(command) for name, command in COMMANDS.items()}
    return {name: options for name, options in found.items() if names <= options.keys()}


def test_every_command_that_reads_documents_has_the_same_options():
    readers = commands_with(Reading)
    assert set(readers) == {
        "train", "tune", "evaluate", "learn", "stats", "convert",
        "predict", "explain", "audit", "next", "compare",
    }  # fmt: skip
    # `convert` and the commands that read documents without labels say more about formats.
    for field in fields(Reading)[1:]:
        assert len({options[field.name] for options in readers.values()}) == 1


def test_every_command_that_trains_has_the_same_options_about_words():
    assert set(commands_with(Words)) == {"train", "tune"}


def test_columns_are_named_for_every_reader(call, catalogue, tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("Inhalt,Nr\nA voyage to the ice,1\nA cat at sea,2\n")
    chosen = call("next", catalogue / "model", path, "--text-column", "Inhalt", "-n", "1")
    assert chosen.code == 0
    assert '"text": "A ' in chosen.out

"""Usual values of options are converted as Typer converts them, without Pydantic."""

import subprocess
import sys

import pytest
import typer

from manylabel.cli.app import COMMANDS, make_app
from manylabel.cli.plain_values import convert_plainly

#: Values of every kind, right and wrong.
VALUES = (
    None, "", "-", "a", " a ", "1", "-1", "+1", "01", "1.0", "1e3", "1_000", " 1", "0", "0.5",
    "-0.5", ".5", "inf", "nan", "٣", "99999999999999999999", "jsonl", "JSONL", "stop", "true",
    "x.csv", 0, 1, 70_000, 0.5, True, ["a", "b"], ("a",), (), [1],
)  # fmt: skip


def parameters(command, ctx):
    return {parameter.name: parameter for parameter in command.get_params(ctx)}


def outcome(parameter, value, ctx):
    try:
        return parameter.get_runtime_param().coerce(value, param=parameter, ctx=ctx)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", COMMANDS)
def test_values_are_those_of_typer(name):
    theirs, ours = (typer.main.get_command(make_app([name])).commands[name] for _ in range(2))
    convert_plainly(ours)
    ctx = typer.Context(theirs)
    for option, plain in parameters(ours, ctx).items():
        other = parameters(theirs, ctx)[option]
        if not hasattr(other, "get_runtime_param"):
            pytest.skip("this version of Typer does not use Pydantic")
        for value in VALUES:
            found, expected = outcome(plain, value, ctx), outcome(other, value, ctx)
            assert (type(found), repr(found)) == (type(expected), repr(expected)), (option, value)


def test_a_usual_call_does_not_import_pydantic(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,labels\na ship,ships\n")
    program = (
        "import sys; from manylabel.cli.app import run; "
        "run(sys.argv[1:]); print('pydantic' in sys.modules)"
    )
    called = ["stats", str(path), "--max-line", "1000", "--format", "csv", "--quiet", "--json"]
    answer = subprocess.run(
        [sys.executable, "-c", program, *called], capture_output=True, text=True, check=True
    )
    assert answer.stdout.endswith("False\n")

"""`paramcount help`: the help of a command."""

from __future__ import annotations

from importlib import import_module

from paramcount.cli import COMMANDS
from paramcount.cli.options import Parser


def run(arguments: list[str]) -> int:
    """Print the help of the command that the arguments name, or of all."""
    command = parser().parse(arguments).command or "count"
    if command not in COMMANDS:
        from paramcount.errors.suggest import unknown

        raise unknown("command", command, COMMANDS, f"the commands are {', '.join(COMMANDS)}")
    import_module(f"paramcount.cli.{command}").parser().print_help()
    return 0


def parser() -> Parser:
    parser = Parser(
        rule="one command at a time",
        prog="paramcount help",
        usage="paramcount help [COMMAND]",
        description="Show the options of a command, with examples.",
    )
    parser.add_argument("command", metavar="COMMAND", nargs="?", help="a command; without one, all are listed")
    return parser

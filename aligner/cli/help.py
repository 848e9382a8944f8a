"""Help: commands in panels (by `_PANELS` of `aligner.cli`), hidden options, an option whose value may be left out."""

import re
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from aligner.cli.messages import settings_of, usage_in_one_line
from aligner.model.settings import THRESHOLD

_BEYOND_A_LINE = re.compile(r"\.(?: |$)|[:;] |, (?:as|for scripts|which) ")


class Panels(TyperGroup):
    """Commands whose help shows them in panels, and whose --encoding may stand behind a command, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        place = next((n for n, arg in enumerate(args) if arg.partition("=")[0] == "--encoding"), 0)
        end = place + 1 + (args[place : place + 1] == ["--encoding"])
        named, rest = args[place:end], [*args[:place], *args[end:]]
        with usage_in_one_line(ctx):
            return super().parse_args(ctx, [*named, *rest] if end <= len(args) else named)

    def invoke(self, ctx: Any) -> Any:
        with usage_in_one_line(ctx):
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(
            f"Usage: {ctx.command_path} COMMAND ... [--encoding NAME]    ({ctx.command_path} --version)\n{self.help}\n"
        )
        commands: Any = self.commands.values()
        panel = None
        for command in commands:
            if panel != (panel := command.rich_help_panel):
                formatter.write(f"\n{panel}:\n" if panel == "Align and train" else f"{panel}:\n")
            first = _BEYOND_A_LINE.split(" ".join((command.help or "").split()), maxsplit=1)[0]
            formatter.write(f"  {command.name:<11} {first}\n")
        formatter.write(f"\n{self.epilog}\n")


class Command(TyperCommand):
    """A command whose help says of arguments what they are, without their types in Python."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for one in (one for one in self.params if one.param_type_name == "argument"):
            vars(one)["display_type_rich"] = lambda ctx: None


class Align(Command):
    """A command whose --unsupervised may be followed by a number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        number = re.compile(r"-?[0-9.]+(e-?[0-9]+)?|-?inf|nan")
        alone = [one == "--unsupervised" and not number.fullmatch(after) for one, after in pairwise([*args, ""])]
        return super().parse_args(
            ctx, [f"{one}={THRESHOLD}" if it else one for one, it in zip(args, alone, strict=True)]
        )


def show_all(context: typer.Context, wanted: bool) -> None:
    """Print the help with its hidden options and the settings of --set, and end the command."""
    if not wanted:
        return
    hidden = [parameter for parameter in context.command.params if vars(parameter)["hidden"]]
    try:
        for parameter in hidden:
            vars(parameter)["hidden"] = False
        print(context.get_help())
    finally:
        for parameter in hidden:
            vars(parameter)["hidden"] = True
    settings = settings_of(context.command.callback or show_all)
    if settings:
        print("\n--set NAME=VALUE:")
    for name, meaning in settings:
        print(f"  {name:<15} {meaning}")
    print(end="", flush=True)  # an error that comes later would be Python's own
    raise typer.Exit

"""Help: commands in panels (by `_PANELS` of `aligner.cli`), hidden options, an option whose value may be left out."""

import re
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from aligner.model.settings import THRESHOLD

SETTINGS = {
    "align": ("aligner.model.settings", ["AlignSettings"]),
    "train": ("aligner.training.settings", ["CountSettings", "LearnSettings"]),
}
"""The classes of settings that a command's `--set` changes, by command."""


class Panels(TyperGroup):
    """Commands whose help shows them in panels, on one screen, and whose --encoding may stand behind a command, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        place = next((n for n, arg in enumerate(args) if arg.partition("=")[0] == "--encoding"), 0)
        end = place + 1 + (args[place : place + 1] == ["--encoding"])
        named, rest = args[place:end], [*args[:place], *args[end:]]
        return super().parse_args(ctx, [*named, *rest] if end <= len(args) else named)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(
            f"Usage: {ctx.command_path} COMMAND ... [--encoding NAME]    ({ctx.command_path} --version)\n{self.help}\n"
        )
        commands: Any = self.commands.values()
        panel = None
        for command in commands:
            if command.hidden:
                continue
            if panel != (panel := command.rich_help_panel):
                formatter.write(f"\n{panel}:\n" if panel == "Align and train" else f"{panel}:\n")
            first_sentence = re.split(r"\.( |$)|[:;] |, as ", " ".join((command.help or "").split()), maxsplit=1)[0]
            formatter.write(f"  {command.name:<11} {first_sentence}\n")
        formatter.write(f"\n{self.epilog}\n")


class Align(TyperCommand):
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
    from importlib import import_module

    from aligner.settings import describe

    hidden = [parameter for parameter in context.command.params if vars(parameter)["hidden"]]
    try:
        for parameter in hidden:
            vars(parameter)["hidden"] = False
        print(context.get_help())
    finally:
        for parameter in hidden:
            vars(parameter)["hidden"] = True
    module, names = SETTINGS[str(context.command.name)]
    print("\n--set NAME=VALUE:")
    for name, meaning in describe(*(getattr(import_module(module), name) for name in names)):
        print(f"  {name:<15} {meaning}")
    print(end="", flush=True)  # an error that comes later would be Python's own
    raise typer.Exit

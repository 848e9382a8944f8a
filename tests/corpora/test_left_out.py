"""What reading leaves out of a file is told once, with the largest counts of all passes."""

import warnings
from collections.abc import Callable

import pytest
from readings import leaves_out

from aligner.cli.messages import answers_for_errors
from corpora.left_out import warn_of_left_out


def test_nothing_left_out_warns_of_nothing() -> None:
    with warnings.catch_warnings(action="error"):
        warn_of_left_out("m.tmx", {})


def test_a_warning_names_file_reasons_and_counts() -> None:
    with leaves_out(r"^m\.tmx: left out: 1,200 units without text in en and de; 2 tabs$") as told:
        warn_of_left_out("m.tmx", {"units without text in en and de": 1200, "tabs": 2})
    assert told[0].filename == __file__


@pytest.mark.parametrize("quiet", [False, True])
def test_a_command_tells_of_each_file_once(capsys: pytest.CaptureFixture[str], quiet: bool) -> None:
    def command(quiet: bool, columns: str) -> None:
        warn_of_left_out("a.tmx", {"units": 3})  # a pass that did not reach all
        warn_of_left_out("b.tmx", {"rows that `columns` would take": 1})
        warn_of_left_out("a.tmx", {"units": 5, "texts": 1})
        print("done", flush=True)

    run: Callable[..., None] = answers_for_errors(command)
    run(quiet=quiet, columns="en,de")
    out, err = capsys.readouterr()
    assert out == "done\n"
    assert err.splitlines() == [
        "a.tmx: left out: 5 units; 1 texts",
        "b.tmx: left out: 1 rows that --columns would take",
    ]

"""README and docs/: examples run, links lead somewhere, and the scripts behind the tables explain themselves.

Examples of a page run from top to bottom in a folder of its own that holds the sample corpus and, unless the page
trains it, the model ``my.model``. Blocks marked ``sh`` are commands, run in this process; blocks marked ``python`` are
doctests, or without prompts are run where the packages that they import are installed. Of those marked ``console``,
which show an output, `evaluate`, `show` and `train` must print what is shown.
"""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import man
import measure
import pytest
import tables
import typer
from commands import COMMANDS, run

import aligner
from aligner.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPTS = sorted(path for path in (ROOT / "scripts").glob("*.py") if "__main__" in path.read_text("utf-8"))
TABLES = measure.registered()
EXAMPLES = re.compile(r"^```(sh|python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODEL = "my.model"


def execute(line: str) -> None:
    """Run one line: ``aligner …``, perhaps with ``> FILE`` behind it or another command and ``|`` before it."""
    words = shlex.split(line, comments=True)
    stdin = b""
    if "|" in words:
        bar = words.index("|")
        stdin, words = subprocess.run(words[:bar], capture_output=True, check=True).stdout, words[bar + 1 :]
    if not words:
        return
    output = words.pop() if words[-2:-1] == [">"] else None
    if output is not None:
        words.pop()
    assert words[0] == "aligner", line
    result = run(*words[1:], stdin=stdin)
    if output is not None:
        Path(output).write_bytes(result.stdout_bytes)


def run_examples(page: Path) -> int:
    """The number of examples of a page, all run in the current folder."""
    text, names, count = page.read_text("utf-8"), {}, 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for example in EXAMPLES.finditer(text):
        line = text[: example.start(2)].count("\n")
        if example[1] == "console":
            command, _, shown = example[2].partition("\n")
            if shown and re.match(r"\$ aligner (evaluate|project|show|train) ", command) and "\n$ " not in f"\n{shown}":
                result = run(*shlex.split(command)[2:])
                assert re.sub(" +$", "", result.stdout or result.stderr, flags=re.MULTILINE) == shown, command
                count += 1
            continue
        if example[1] == "sh":
            for command in example[2].replace("\\\n", " ").splitlines():
                execute(command)
                count += 1
            continue
        if ">>>" not in example[2]:
            imported = re.findall(r"^(?:import|from) (\w+)", example[2], re.MULTILINE)
            if all(importlib.util.find_spec(name) for name in imported):
                with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
                    warnings.simplefilter("ignore")  # of other people's packages
                    exec(compile(example[2], page.name, "exec"), names)
                    count += 1
            continue
        test = doctest.DocTestParser().get_doctest(example[2], names, page.name, str(page), line)
        report = io.StringIO()
        with redirect_stdout(io.StringIO()):
            runner.run(test, out=report.write, clear_globs=False)
        assert not report.getvalue(), report.getvalue()
        names.update(test.globs)
        count += len(test.examples)
    return count


@pytest.fixture(scope="session")
def sample_model(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A model of the sample corpus, as README trains it but for the choice of λ."""
    path = tmp_path_factory.mktemp("documentation") / MODEL
    run("train", sample / "train", "-m", path, "--set", "cross_validate=0", "-q")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if {"sh", "python"} & {kind for kind, _ in EXAMPLES.findall(page.read_text("utf-8"))}],
    ids=lambda p: p.name,
)
def test_examples_run(
    page: Path, sample: Path, sample_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in sample.glob("[et]*.*"):
        shutil.copy(file, tmp_path)
    if f"train train -m {MODEL}" not in page.read_text("utf-8"):
        shutil.copy(sample_model, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run_examples(page) > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", text):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for path in re.findall(r"`((?:aligner|corpora|features|scripts|tests|docs)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path


def test_the_man_page_is_that_of_the_parser() -> None:
    assert man.PAGE.read_text("utf-8") == man.page(), "python scripts/man.py --write"


def test_readme_is_one_page_long() -> None:
    text = PAGES[0].read_text("utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.encode()) <= 8_000


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_options_that_pages_name_exist(page: Path) -> None:
    text = "\n".join(part for part in re.findall(r"`[^`\n]+`|^ *aligner .*$", page.read_text("utf-8"), re.MULTILINE))
    text = "\n".join(line for line in text.splitlines() if not re.search(r"python|pip|scripts/|pytest", line))
    known = "".join(run(name, "--help").stdout for name in COMMANDS) + run("--help").stdout
    every = "".join(run(name, "--help-all").stdout for name in ("align", "train"))
    known += every + " ".join(option for one in typer.main.get_command(app).params for option in one.opts)
    known += "".join(script.read_text("utf-8") for script in SCRIPTS)
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)):
        assert re.search(rf"{option}\b(?!-)", known), option
    for name in set(re.findall(r"--set ([a-z]\w*)", text)):
        assert re.search(rf"^  {name}\b", every, re.MULTILINE), name


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_scripts_say_what_they_do_without_optional_packages(script: Path) -> None:
    code = f"""if True:
        import runpy, sys
        sys.modules.update(dict.fromkeys(["matplotlib", "eflomal", "sklearn", "playwright"]))  # as if not installed
        sys.path.insert(0, {str(script.parent)!r})
        sys.argv = [{script.name!r}, "--help"]
        runpy.run_path({str(script)!r}, run_name="__main__")
    """
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert script.name in result.stdout


@pytest.mark.parametrize("name", TABLES)
def test_tables_say_what_their_options_mean(name: str) -> None:
    for option in {*inspect.signature(TABLES[name][1]).parameters} - {"data", "write"}:
        assert re.search(rf"\b{option}: ", TABLES[name][1].__doc__), option


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_rows_of_tables_have_the_cells_of_their_heads(page: Path) -> None:
    """A bar that is text must be escaped, in code too."""
    for table in re.findall(r"(?:^\|.*\n)+", page.read_text("utf-8"), re.MULTILINE):
        cells = [len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()]
        assert len({*cells}) == 1, table


def test_pages_grow_no_further() -> None:
    sizes = {page.name: page.stat().st_size for page in PAGES}
    assert sizes["README.md"] <= 8_000
    assert sum(sizes.values()) - sizes["README.md"] - sizes["decisions.md"] <= 234_000


def test_nothing_refers_to_what_is_not_here() -> None:
    for folder in ("aligner", "corpora", "features", "scripts", "docs"):
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in (".py", ".md", ".sh"):
                missing = re.findall(r"\b[A-Z]{4,}(?:\.md| §)", file.read_text("utf-8"))
                assert all((ROOT / name).exists() for name in missing), f"{file}: {missing}"


def test_every_table_is_written_by_a_script() -> None:
    """By a command of `measure.py`, `reproduce.sh` or `train_links.py`; each has one place, and files."""
    text = "".join(page.read_text("utf-8") for page in PAGES)
    places = re.findall(r"<!-- table: ([\w-]+)(?:, rows: .*)? -->\n", text)
    assert len(places) == text.count("<!-- end of table -->")
    made = [name for names, _ in TABLES.values() for name in names]
    assert sorted(places) == sorted([*made, "accuracy", "combine", "links"])
    files = {re.sub(r"(-\d)?\.csv$", "", path.name) for path in tables.RESULTS.iterdir()}
    assert files == {*places} - {"few-pairs", "letters-gap"}  # which are sentences


def test_a_table_goes_between_its_markers(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    around = "before\n<!-- table: one -->\n{}<!-- end of table -->\n<!-- table: two -->\n<!-- end of table -->\nafter\n"
    page.write_text(around.format("of old\n"), "utf-8")
    content = tables.markdown(["solver", "gap"], [["bcfw", r"\1"]])
    assert tables.put_table(page, "one", content)
    assert page.read_text("utf-8") == around.format(content + "\n")
    assert not tables.put_table(page, "three", content)
    page.write_text(page.read_text("utf-8").replace("two -->", "two, rows: gap$|^.. ?b -->"), "utf-8")
    rows = tables.markdown(["solver", "gap"], [["a", 1], ["b", 2]])
    assert tables.put_table(page, "two", f"{rows}\n\nnote")
    assert page.read_text("utf-8").endswith(
        "rows: gap$|^.. ?b -->\n| solver | gap |\n| --- | ---: |\n| b | 2 |\n\nnote\n<!-- end of table -->\nafter\n"
    )


def test_rows_of_pages_are_in_the_files_behind_them() -> None:
    for page in PAGES:
        places = r"<!-- table: ([\w-]+)(, rows)?.*-->\n((?:(?!<!--).*\n)*)"
        for name, some, body in re.findall(places, page.read_text("utf-8")):
            for number, shown in enumerate(tables.cells_of(body), 1):
                file = tables.results(name if number == 1 else f"{name}-{number}")
                known = [[*file[0]], *([*row.values()] for row in file)]
                assert shown == [row for row in known if row in shown or not some], name


def test_the_version_of_results_is_that_of_the_package() -> None:
    for file in tables.RESULTS.iterdir():
        about = file.read_text("utf-8").splitlines()[0]
        assert re.search(r"^# (?:python|bash) scripts/.*: aligner ([^,]*), \d{4}-", about)[1] == aligner.__version__, (
            file
        )


@pytest.mark.slow
def test_figures_of_solvers_are_of_all_that_know_the_problem(tmp_path: Path) -> None:
    """A rehearsal of the script, on small problems: its runs, and the tables that they make."""
    from aligner.solvers import SOLVERS

    runs = tmp_path / "runs.jsonl"
    command = [sys.executable, ROOT / "scripts" / "measure.py", "solvers", "--quick", "--runs", runs]
    result, again = (
        subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True) for more in ([], ["--draw"])
    )
    assert result.returncode == again.returncode == 0, result.stderr + again.stderr
    assert again.stdout in result.stdout
    problems = "letters", "chunks", "matchings"
    found = {(run["problem"], run["line"]) for run in map(json.loads, runs.read_text("utf-8").splitlines())}
    for name in SOLVERS.keys() - {"kernel-bcfw"}:
        told = [problem for problem in problems if f"{problem}: {name} leaves" in result.stdout]
        assert len(told) < 3
        assert all(((problem, name) in found) != (problem in told) for problem in problems)


MEASURED = {  # Of which weights and text the AER of a table is: words that stand above it. The same words: one figure.
    "accuracy": "What do the commands give as they are?",
    "commands": "with the text of `gold-train`, `gold-trial` and `gold-dev` added",
    "gold-dev": "default weights without the gold of that language pair",
    "others": "default weights were learnt without the Hansards",
    "left-out": "Default weights without the gold set",
    "dictionary": "Default weights without the gold set",
    "other-text": "Default weights without the gold set",
    "languages": "learnt from sets of other languages alone",
    "candidates": "default weights as they came on that day",
    "learning-curve": "two random samples are drawn",
}
SAME = {
    **{"without": "no labels", "default": "no labels", "AER": "no labels", "aligner align": "no labels"},
    **{
        "aligner align SRC TGT": "no labels",
        "100 pairs alone": "no labels",
        "no labels, --unsupervised": "--unsupervised",
    },
    **{"aligner align --unsupervised": "--unsupervised", "Hansards English-French": "Hansards", "rwth-de-en": "rwth"},
}
SYSTEMS = {"no labels", "--unsupervised", "eflomal", "fast_align"}


def labelled_figures(row: dict[str, str]) -> dict[tuple[str, str, str], float]:
    """The AER of a row by data set, pairs of text and system, under one name each."""
    first = next(iter(row.values()))
    data, _, pairs = re.sub(" pairs$", "", first).partition(", ") if " pairs" in first else (first, "", "")
    for head in ("pairs", "pairs of text", "pairs of the corpus", "sentences"):
        pairs = row.get(head, "") if pairs in ("", "its own") else pairs
    if "AER of gold-dev" in row:
        row = {row["process"]: row["AER of gold-dev"]}
        data, pairs = "Hansards", str(int(pairs.replace(",", "")) // 1000 * 1000)
    elif "system" in row and "AER" in row:
        row = {row["system"]: row["AER"]}
    elif row.get("--links") == "none":
        data = "Hansards"
    cells = {}
    for head, cell in row.items():
        size = re.match(r"([\d,]+) pairs, (.*)|(100) pairs alone$", head)
        system = size[2] or head if size else head
        if (value := re.match(r"\d+\.\d+", cell)) and SAME.get(system, system) in SYSTEMS and (size or pairs):
            number = (size[1] or size[3]) if size else pairs
            cells[SAME.get(data, data), number.replace(",", ""), SAME.get(system, system)] = float(value[0])
    return cells


def test_one_label_has_one_figure() -> None:
    """Data set, pairs and system: the same AER in all tables of the same weights and text, and others say which."""
    seen: dict[tuple[str, ...], tuple[float, str]] = {}
    counted = dict.fromkeys(MEASURED, 0)
    for page in PAGES:
        text = page.read_text("utf-8")
        for name in re.findall(r"<!-- table: ([\w-]+)", text):
            if name in ("cost", "growth", "few-pairs", "letters-gap"):  # README is below; growth has no errors
                continue
            told = text.partition(f"<!-- table: {name}")[0]
            for label, value in [pair for row in tables.results(name) for pair in labelled_figures(row).items()]:
                assert name in MEASURED, f"{page.name}, {name}: {label}: of which weights and text?"
                assert MEASURED[name] in told, f"{page.name} does not say above {name}: {MEASURED[name]}"
                counted[name] += 1
                free = label[2] != "no labels" and name in ("left-out", "languages")  # of weights; one text
                before, where = seen.setdefault(("" if free else MEASURED[name], *label), (value, name))
                assert abs(before - value) < 0.051, f"{label}: {before} in {where}, {value} in {name}"
    assert all(counted.values()), counted


def test_figures_of_readme_are_those_of_the_tables_behind_them() -> None:
    readme = PAGES[0].read_text("utf-8")
    [aer, *_] = tables.results("cost")
    commands = {row["process"]: row for row in tables.results("commands") if row["pairs"] in next(iter(aer))}
    for system, cell in list(aer.items())[1:-1]:
        process = "aligner align SRC TGT" if system == "aligner" else system
        assert commands[process]["AER of gold-dev"] == cell, system
    [few] = re.findall(r"<!-- table: few-pairs -->\n(.*?)<!-- end", readme, re.DOTALL)
    [row] = [row for row in tables.results("learning-curve") if f"{row['pairs']} {row['language']} pairs" in few]
    told = re.findall(r"\d+\.\d", few)
    assert told == [row[head].split()[0] for head in ("no labels", "eflomal", "50 labels")]

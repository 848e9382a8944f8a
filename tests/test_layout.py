"""The shape of the house: who may import whom, who may print, and how long a file may be."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import pytest
import typer

from aligner.cli import app

ROOT = Path(__file__).resolve().parent.parent

LAYERS: list[tuple[str, ...]] = [
    ("corpora",),
    ("features",),
    # The library: arrays, no words. Beside it, links against gold: no arrays of the library.
    ("aligner._version", "aligner.errors"),
    ("aligner.templates", "aligner.pages.assets"),
    ("aligner.problem",),
    ("aligner.matching", "aligner.pages.notebook"),
    ("aligner.losses", "aligner.evaluation", "aligner.layers"),
    ("aligner.solvers",),
    ("aligner.progress",),
    ("aligner.model",),
    ("aligner.training",),
    ("aligner.pages",),
    ("aligner.cluster",),
    ("aligner", "aligner.eflomal", "aligner.machine", "aligner.opusfilter"),
    ("aligner.cli",),
    ("aligner.__main__",),
]
"""From the ground up: a module may import of its own place and of those further up in this list."""

GROUND = {"corpora.ragged", "corpora.threads", "corpora.compiled"}
"""What of the product the library stands on; `compiled` needs numba, and only modules of kernels need it."""

LIBRARY = [
    "aligner.templates",
    "aligner.problem",
    "aligner.matching",
    "aligner.losses",
    "aligner.layers",
    "aligner.solvers",
]
NO_WORDS = {"aligner", "aligner._version", "aligner.errors", "corpora", "corpora.ragged", "corpora.threads"}
SLOW = {
    "numpy", "numba", "scipy", "nltk", "networkx", "jinja2", "starlette", "uvicorn", "pyarrow", "backports", "dask",
    "distributed", "spacy", "jax", "torch",
}  # fmt: skip
LONGEST, LONGEST_TEST = 350, 400
MOST_PARAMETERS, MOST_OPTIONS = 8, 30
MOST_TOKENS = {"product": 207_500, "library": 76_700, "tests": 329_030, "scripts": 45_680}
"""Of Python: names, operators, numbers and strings, as packing makes fewer lines of more tokens. These bounds fall; a
line of docs/decisions.md says for what one was raised, and what left for it.
"""
FOLDERS = "aligner", "corpora", "features", "tests", "scripts"
LITERALS = ast.Dict, ast.List, ast.Tuple, ast.Set
MOST_OF_PAGES = 4230  # lines of scripts, styles and templates

TREES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8"))
    for package in ("aligner", "corpora", "features")
    for path in sorted((ROOT / package).rglob("*.py"))
}


NAMES = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in TREES]
"""Of all our modules."""


def within(module: str, packages: list[str]) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def imported(tree: ast.Module) -> Iterator[str]:
    """What is imported anywhere, modules and names: inside functions too, and for annotations only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from names if names <= {*NAMES} else {str(node.module), *names & {*NAMES}}


MODULES = dict(zip(NAMES, TREES.values(), strict=True))
IMPORTS = {
    name: {module for module in imported(tree) if module in MODULES and module != name}
    for name, tree in MODULES.items()
}
"""Module -> those of ours that it imports."""


def place(module: str) -> tuple[str, int]:
    """The place in LAYERS that a module belongs to, and its layer."""
    places = {name: level for level, layer in enumerate(LAYERS) for name in layer}
    name = max((name for name in places if within(module, [name])), key=len)
    return name, places[name]


def test_no_import_goes_up() -> None:
    """Nor to another place of the same layer."""
    arrows = [(one, other) for one, others in IMPORTS.items() for other in others]
    assert len(arrows) > 500, "imports are found"
    wrong = [
        f"{one} imports {other}"
        for one, other in arrows
        if place(one)[0] != place(other)[0] and place(other)[1] >= place(one)[1]
    ]
    assert not wrong, "\n".join(sorted(wrong))


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = networkx.DiGraph((one, other) for one, others in IMPORTS.items() for other in others)
    circles = [sorted(group) for group in networkx.strongly_connected_components(graph) if len(group) > 1]
    assert not circles


def test_no_script_imports_itself_by_way_of_others() -> None:
    folder = ROOT / "scripts"
    trees = {
        ".".join(path.relative_to(folder).with_suffix("").parts): ast.parse(path.read_text("utf-8"))
        for path in folder.rglob("*.py")
    }
    arrows = [(one, other) for one, tree in trees.items() for other in imported(tree) if other in trees]
    assert len(arrows) > 20, "imports are found"
    assert not [*networkx.simple_cycles(networkx.DiGraph(arrows))]


def test_the_library_stands_on_arrays_alone() -> None:
    wrong = [
        f"{one} imports {other}"
        for one, others in IMPORTS.items()
        for other in others
        if within(one, LIBRARY) and not within(other, [*LIBRARY, "aligner.errors", *GROUND])
    ]
    assert not wrong, "\n".join(wrong)


def test_only_one_package_knows_the_cluster() -> None:
    def knows(tree: ast.Module, module: str) -> bool:
        return any(within(name, [module]) for name in imported(tree))

    assert {path for path, tree in TREES.items() if knows(tree, "distributed")} == {"aligner/cluster/connection.py"}
    of_commands = {path for path, tree in TREES.items() if knows(tree, "aligner.cluster")}
    assert all(path.startswith(("aligner/cluster/", "aligner/cli/")) for path in of_commands)


def test_only_the_commands_print_or_exit() -> None:
    wrong = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                found = ast.unparse(node.func) in {"print", "exit", "quit", "sys.exit", "os._exit", "breakpoint"}
            else:
                found = isinstance(node, ast.Raise) and node.exc is not None and "SystemExit" in ast.unparse(node.exc)
            if found and not path.startswith("aligner/cli/"):
                wrong.append(f"{path}:{node.lineno}")  # type: ignore[attr-defined]
    assert not wrong, "\n".join(wrong)


def test_only_the_commands_name_their_options() -> None:
    """From Python nobody has ``--gold``, and not every command has: messages of the library name the setting `gold`."""
    wrong = []
    for path, tree in TREES.items():
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                found = re.search(r"(?<![\w-])--[a-z]", node.value) and "pip install" not in node.value
                if found and not path.startswith("aligner/cli/"):
                    wrong.append(f"{path}:{node.lineno}: {node.value}")
    assert not wrong, "\n".join(wrong)


def test_what_a_message_says_to_install_is_what_an_extra_brings() -> None:
    """By the names of those packages: ours may have been installed from anywhere."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    known = {re.split(r"[>\[]", requirement)[0] for extra in extras.values() for requirement in extra}
    named = [
        package
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for packages in re.findall(r"pip install ([\w. ]+)", node.value)
        for package in packages.split(" or ")[0].split()
    ]
    assert {"openpyxl", "pyarrow", "starlette", "backports.zstd", "distributed"} <= set(named) <= known


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Without `self` and `cls`."""
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([one for one in named if one.arg not in ("self", "cls")])


def test_functions_have_few_parameters() -> None:
    """But kernels, commands, whose are the user's options, and eflomal's Python interface, which is not ours."""
    wrong = []
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters(node) > MOST_PARAMETERS:
                of_kernel = any(ast.unparse(one).startswith(("compiled", "template")) for one in node.decorator_list)
                if not of_kernel and not path.startswith("aligner/cli/") and path != "aligner/eflomal.py":
                    wrong.append(f"{path}:{node.lineno}: {node.name}")
    assert not wrong, "\n".join(wrong)


def test_commands_have_few_options() -> None:
    commands: Any = typer.main.get_command(app)
    options = {
        name: [
            one.opts for one in command.params if one.param_type_name == "option" and "--help" not in " ".join(one.opts)
        ]
        for name, command in commands.commands.items()
    }
    assert len(options) > 10
    assert sum(map(len, options.values())) > 100
    assert not {name: len(own) for name, own in options.items() if len(own) > MOST_OPTIONS}


def test_files_are_short() -> None:
    for folder in FOLDERS:
        longest = LONGEST_TEST if folder == "tests" else LONGEST
        files = [path for path in (ROOT / folder).rglob("*.*") if path.suffix in (".py", ".js", ".ts", ".css", ".html")]
        lines = {path: len(path.read_text("utf-8").splitlines()) for path in files}
        assert not {path: n for path, n in lines.items() if n > longest}


def test_the_house_grows_no_further() -> None:
    kinds = tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING
    tokens = Counter[str]()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            half = folder if folder in MOST_TOKENS else "library" if within(module, LIBRARY) else "product"
            with path.open("rb") as file:
                tokens[half] += sum(one.type in kinds for one in tokenize.tokenize(file.readline))
    assert {half: n for half, n in tokens.items() if n > MOST_TOKENS[half]} == {}


def test_only_tables_of_data_are_laid_out_by_hand() -> None:
    """Values of names, and cases of tests; all else is as ruff formats it."""
    wrong = []
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        marked = {number for number, line in enumerate(lines, 1) if line.endswith("# fmt: " + "skip")}
        for node in ast.walk(ast.parse("\n".join(lines))) if marked else ():
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, LITERALS):
                marked.discard(node.end_lineno or 0)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                marked -= {one.end_lineno for one in node.decorator_list}
        wrong += [f"{path}:{number}" for number in sorted(marked)]
    assert not wrong


def test_no_merge_is_half_done() -> None:
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        assert not re.search("^(<{7}|>{7}) ", page.read_text("utf-8"), re.MULTILINE), page


def test_the_pages_stay_small() -> None:
    folders = ROOT / "aligner" / "pages" / "static", ROOT / "aligner" / "pages" / "templates"
    assert (
        sum(len(path.read_text("utf-8").splitlines()) for folder in folders for path in folder.iterdir())
        <= MOST_OF_PAGES
    )


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh process has loaded after this code."""
    script = f"{code}\nimport sys; print('\\n', *sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return {*run.stdout.splitlines()[-1].split()}


def test_the_library_loads_no_words() -> None:
    loaded = loaded_by("from aligner.solvers import solve")
    ours = {module for module in loaded if within(module, ["aligner", "corpora", "features"])}
    assert "aligner.solvers.driver" in ours
    assert "aligner.layers" not in ours
    assert not {module for module in ours if not within(module, LIBRARY)} - NO_WORDS


@pytest.mark.parametrize(
    "code", ["import aligner", "from aligner.cli import app; app(['--help'], standalone_mode=False)"]
)
def test_help_loads_nothing_slow(code: str) -> None:
    loaded = loaded_by(code)
    assert "aligner._version" in loaded
    assert not {module for module in loaded if within(module, [*SLOW])}

"""The pages of the site that are made when it is built: README, the changelog, a page for each command from its own
help, and the reference of what is public from its docstrings. MkDocs calls what begins with ``on_``, see mkdocs.yml.

    python scripts/make_site.py [--write]        # builds the site in a folder that goes, or into site/
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def command_page(name: str) -> str:
    """Its three examples, and all that its help says."""
    from aligner.cli import EXAMPLES

    def shown_by(option: str) -> str:
        command = [sys.executable, "-m", "aligner", name, option]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return told.replace("python -m aligner", "aligner")

    shown = shown_by("--help")
    shown = shown_by("--help-all") if "--help-all" in shown else shown
    told = re.sub(r"\n *Examples:\n.*?(?=\n--set NAME|\Z)", "", shown, flags=re.DOTALL)
    examples = "\n".join(f"aligner {example}" for example in EXAMPLES[name])
    return (
        f"# aligner {name}\n\n```sh\n{examples}\n```\n\n"
        f"The examples run in `corpora/sample`. More of them, and what they are for: [the guide](../commands.md).\n\n"
        f"```text\n{told.strip()}\n```\n"
    )


def reference(package: str, title: str, about: str) -> str:
    """All that a package exports, from docstrings."""
    from importlib import import_module

    module = import_module(package)
    homes = {
        name: place if place.startswith(("aligner", "corpora")) else f"aligner.{place}"
        for key, value in module._HOMES.items()
        for place, name in ([(value, key)] if package == "aligner" else [(key, one) for one in value.split()])
    }
    parts = [f"::: {homes[name]}.{name}" for name in sorted(homes, key=str.lower)]
    return "\n\n".join([f"# {title}", about, *parts]) + "\n"


def outward(name: str) -> str:
    """A page of the root as one of docs/."""
    return re.sub(r"\]\(docs/", "](", (ROOT / name).read_text("utf-8"))


def on_config(config: Any) -> Any:
    """Put the commands' pages in their place of the navigation."""
    from aligner.cli import EXAMPLES

    for part in config.nav:
        for title, pages in part.items():
            if title == "Commands":
                part[title] = [*pages[:1], *({name: f"commands/{name}.md"} for name in EXAMPLES)]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in docs/."""
    from mkdocs.structure.files import File

    from aligner.cli import EXAMPLES

    made = {f"commands/{name}.md": command_page(name) for name in EXAMPLES}
    made["index.md"] = outward("README.md")
    made |= {f"{name.lower()}.md": outward(f"{name}.md") for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")}
    made["reference/product.md"] = reference(
        "aligner", "Python", "What `import aligner` has: [how to use it](../python.md)."
    )
    made["reference/library.md"] = reference(
        "aligner.solvers", "Solvers and problems", "What `aligner.solvers` has: [how to use it](../own-problem.md)."
    )
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Pages of the root are beside the others; what leads to code leads nowhere here: its words stay."""
    markdown = re.sub(r"\]\((?:\.\./)?README\.md", "](index.md", markdown)
    markdown = re.sub(r"\]\((?:\.\./)?([A-Z]+)\.md", lambda found: f"]({found[1].lower()}.md", markdown)
    outside = r"\.\./(?:scripts|aligner|corpora|features|tests)/[^)]*|CITATION\.cff"
    markdown = re.sub(rf"\[([^]]*)\]\((?:{outside})\)", r"\1", markdown)
    # Python-Markdown wants a blank line before a list or a table.
    return re.sub(r"^(?![|\s>-])(.+)\n(?=\||- )", r"\1\n\n", markdown, flags=re.MULTILINE)


def main() -> None:
    from tables import parser_of

    options = parser_of(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = ROOT / "site" if options.write else Path(folder)
        build = [sys.executable, "-m", "mkdocs", "build", "--site-dir", out]
        done = subprocess.run(
            build, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        )
    told = re.findall(r"(?m)^(?:WARNING|ERROR) .*$|^Aborted.*$|^\w*Error.*$", done.stderr)
    sys.exit("\n".join(told) or done.stderr if done.returncode else 0)


if __name__ == "__main__":
    main()

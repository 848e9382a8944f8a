"""Render pages as one file: a template that contains the styles, the scripts and the data that it needs.

The files are in ``templates`` and ``static``. Scripts are ES modules; the top of each says what it is for, and
``types.d.ts`` has the types that they share.
"""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from aligner._version import __version__

_HERE = Path(__file__).parent

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function|class) ([\w$]+))", re.MULTILINE)


@cache
def _read(name: str) -> str:
    return (_HERE / "static" / name).read_text("utf-8")


@cache
def bundle(module: str) -> str:
    """Bundle a module of ``static`` and all that it imports into one module without imports.

    Each keeps a scope of its own and comes after the modules that it imports, which must not be circular.
    """
    scopes: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in scopes:
            text = _read(name)
            for _, other in _IMPORT.findall(text):
                add(other)
            body = _EXPORT.sub("", _IMPORT.sub(r'const \1 = modules["\2"];', text))
            scopes[name] = (
                f'modules["{name}"] = (() => {{\n{body}return {{ {", ".join(_EXPORT.findall(text))} }};\n}})();\n'
            )

    add(module)
    return "const modules = {};\n" + "".join(scopes.values())


def render(
    template: str,
    data: object,
    *,
    module: str,
    styles: Sequence[str],
    connects: bool = False,
    **values: Any,
) -> str:
    """Render a page that opens from disk, or that may send requests to its own server.

    data: JSON values, which the scripts find in the element ``data``.  module, styles: names in ``static``.
    connects: whether it may send requests to the server that it came from, and to no other.
    values: of the template, escaped. No other script runs, no other style applies, and nothing is loaded.
    """
    environment = Environment(loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined)
    script, style = bundle(module), "\n".join(map(_read, styles))
    policy = f"default-src 'none'; base-uri 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    policy += "; connect-src 'self'" if connects else ""
    return environment.get_template(template).render(
        policy=policy, style=Markup(style), script=Markup(script), data=embedded(data), version=__version__, **values
    )


def embedded(data: object) -> Markup:
    """JSON for a script element: without ``<``, it can neither end the element nor begin a comment."""
    return Markup(json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

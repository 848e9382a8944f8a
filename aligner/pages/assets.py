"""Pages of one file: a template with the styles, the scripts and the data that it needs inside.

The files are in ``templates`` and ``static``. Scripts share one scope, which nothing leaves; the top of each says what
it is for. The drawing of one pair, ``draw`` of ``draw.js``, needs those of `DRAWING` alone.
"""

from __future__ import annotations

import json
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

DRAWING = ("dom.js", "links.js", "lines.js", "matrix.js", "draw.js")
"""The scripts of the picture of one pair; its styles are those of ``drawing.css``."""


@cache
def _read(name: str) -> str:
    return (_HERE / "static" / name).read_text("utf-8")


def bundle(scripts: Sequence[str]) -> str:
    """Scripts as one, without global names."""
    return '(() => {\n"use strict";\n' + "\n".join(map(_read, scripts)) + "})();\n"


def render(
    template: str,
    data: object,
    *,
    scripts: Sequence[str],
    styles: Sequence[str],
    connects: bool = False,
    **values: Any,
) -> str:
    """A page that opens from disk, or one that may ask its own server.

    data: JSON values, which the scripts find in the element ``data``.  scripts, styles: names in ``static``, in order.
    connects: whether it may ask the server that it came from, and no other.
    values: of the template; what they say is escaped. No script or style but these is run, and nothing is loaded.
    """
    environment = Environment(loader=FileSystemLoader(_HERE / "templates"), autoescape=True, undefined=StrictUndefined)
    script, style = bundle(scripts), "\n".join(map(_read, styles))
    policy = f"default-src 'none'; base-uri 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    policy += "; connect-src 'self'" if connects else ""
    return environment.get_template(template).render(
        policy=policy, style=Markup(style), script=Markup(script), data=embedded(data), version=__version__, **values
    )


def embedded(data: object) -> Markup:
    """JSON that may stand in an element of script: with no ``<`` it can neither end it nor begin a comment."""
    return Markup(json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

"""Parse JSON strictly: numbers are finite, integers have at most 20 digits, nesting is not too deep."""

import json
from typing import Any


def parse_json(data: bytes | str) -> Any:
    """Return the value of JSON text.  Raises ValueError, which says why, if it is invalid or unreasonable."""
    try:
        return json.loads(
            data if isinstance(data, str) else data.decode("utf-8-sig"), parse_int=_whole, parse_constant=_no_number
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError("it has a number of more than 20 digits")
    return int(digits)


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")

"""JSON as the standard has it: numbers are finite, and nothing is nested too deeply."""

import json
from typing import Any


def parse_json(data: bytes | str) -> Any:
    """Return the value of JSON.  Raises ValueError, which says why, of what is none or nobody could mean."""
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

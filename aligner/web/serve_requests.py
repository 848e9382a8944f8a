"""What a service is asked and what it answers: JSON in, JSON out, no matter how they come and go."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from aligner.model.model import Model
from aligner.model.streaming import pair_object

Pair = tuple[list[str], list[str]]  # the tokens of both sides


@dataclass(frozen=True)
class Limits:
    """What a service takes.

    body: bytes of a request.  pairs, words: in a request, words of both sides.  length: words of a sentence.
    queue: requests that may be read, wait or be worked on at a time.
    """

    body: int = 1 << 20
    pairs: int = 1000
    words: int = 50_000
    length: int = 500
    queue: int = 128


class Refused(Exception):
    """A request that is not answered as it wishes.  status: of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Answer(NamedTuple):
    """The answer to one request.  status: of HTTP.  body: JSON.  pairs: how many were aligned."""

    status: int
    body: bytes
    pairs: int = 0

    @classmethod
    def refusal(cls, refused: Refused) -> Answer:
        return cls(refused.status, to_json({"error": str(refused)}))


def to_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def answer_all(model: Model, limits: Limits, bodies: Sequence[bytes]) -> list[Answer]:
    """The answers to requests, whose pairs are aligned all at once: that is up to ten times as fast as one by one."""
    read = [_read(model, limits, body) for body in bodies]
    try:
        pairs = [pair for one in read if not isinstance(one, Refused) for pair in one[0]]
        found = iter(model.align_bitext(model.builder().add_pairs(pairs).bitext()) if pairs else ())
        return [_answer(one, found) for one in read]
    except Exception:
        if len(bodies) == 1:
            raise
    return [answer for body in bodies for answer in answer_all(model, limits, [body])]  # none suffers for another


def _answer(read: tuple[list[Pair], bool] | Refused, found: Any) -> Answer:
    if isinstance(read, Refused):
        return Answer.refusal(read)
    pairs, is_list = read
    objects = [pair_object(*pair, next(found)) for pair in pairs]
    return Answer(200, to_json({"pairs": objects} if is_list else objects[0]), len(pairs))


def _read(model: Model, limits: Limits, body: bytes) -> tuple[list[Pair], bool] | Refused:
    """The pairs of a request, and whether they come as a list."""
    try:
        return parse_request(model, limits, body)
    except Refused as refused:
        return refused


def parse_request(model: Model, limits: Limits, body: bytes) -> tuple[list[Pair], bool]:
    """The pairs of a request, and whether they come as a list.  Raises Refused."""
    try:
        asked = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON in UTF-8: {error} (see /openapi.json)") from error
    is_list = isinstance(asked, dict) and "pairs" in asked
    given = _fields(asked, ("pairs",), "the body")[0] if is_list else [asked]
    if not isinstance(given, list):
        raise Refused(422, "pairs is not a list (give a list of objects with source and target)")
    if len(given) > limits.pairs:
        raise Refused(422, f"{len(given):,} pairs are more than {limits.pairs:,} (send several requests)")
    pairs: list[Pair] = []
    words = 0
    for number, pair in enumerate(given):
        where = f"pair {number}: " if is_list else ""
        source, target = _fields(pair, ("source", "target"), f"{where}a pair")
        tokens = [
            _tokens(side, normalizer, limits, f"{where}{name}")
            for side, normalizer, name in zip((source, target), model.normalizers, ("source", "target"), strict=True)
        ]
        words += sum(map(len, tokens))
        pairs.append((tokens[0], tokens[1]))
    if words > limits.words:
        raise Refused(422, f"{words:,} words are more than {limits.words:,} (send several requests)")
    return pairs, is_list


def _fields(value: object, names: Sequence[str], what: str) -> list[Any]:
    """The values of an object that has these fields and no other.  Raises Refused."""
    if not isinstance(value, dict) or {*value} != {*names}:
        raise Refused(422, f"{what} is not an object with {' and '.join(names)} alone (see /openapi.json)")
    return [value[name] for name in names]


def _tokens(side: Any, normalizer: Any, limits: Limits, where: str) -> list[str]:
    """The tokens of a text, or tokens as they are given.  Raises Refused."""
    is_tokens = isinstance(side, list) and all(isinstance(token, str) and token for token in side)
    if not is_tokens and not isinstance(side, str):
        raise Refused(422, f"{where} is neither a text nor a list of tokens (no token may be empty)")
    try:
        "".join(side).encode()
    except UnicodeEncodeError as error:
        raise Refused(422, f"{where} is not Unicode: half a surrogate pair (send whole characters)") from error
    tokens: list[str] = side if is_tokens else normalizer.tokens(side)
    if len(tokens) > limits.length:
        raise Refused(422, f"{where}: {len(tokens):,} words are more than {limits.length:,} (split the sentence)")
    return tokens

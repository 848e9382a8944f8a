"""Files that nobody writes: well-formed ones, changed at random."""

import random
from collections.abc import Sequence

TOKENS = [
    b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xa8", b"\xc2\xa0", b"\xed\xa0\x80", b"\\ud800", b"\xff",
    b"\x1b[2J", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b" ", b"|||", b" ||| ", b"|", b"-", b"?", b":", b"0-0",
    b"1-1:0.5", b"0-0:nan", b"0?0", b"-1", b"-1--1", b"9" * 9, b"9" * 10, b"9" * 20, b"1" * 5000,
    b"0-" + b"9" * 400, b"1e308", b"-1e999", b"NaN", b"Infinity", b"null", b"true", b"0.0000001", b"[" * 3000,
    b'{"a":' * 2000, b"{", b"}", b'"', b"\\", b"\\u0000", b"NULL ({ 1 })", b"({", b"})",
    b"# Sentence pair (1) source length 3 target length 3 alignment score : 1", b"<s snum=1> a </s>", b"<s snum=",
    b"</s>", b"S", b"P", b"1 1 1 S\n", b"1 1 1", b"PAR1", b"ARROW1", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9",
    b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"%PDF-", b"LEX\ta\tb\t1\n", b"HMMF\t0\t1\n", b"FERF\ta\t1\t1\n",
    "\u4e2d\u6587".encode(), "e\u0301".encode(), b"w" * 70_000, b"\x85", b"\x0b\x0c",
]  # fmt: skip


def mutated(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    """Return content with one to four changes; others: files of which pieces may be put into it."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        content = _changed(content, rng, others)
    return content


def _changed(content: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(content) + 1)
    to = min(len(content), at + rng.choice([0, 0, 1, 1, 4, 30]))
    match rng.randrange(9):
        case 0 if content:
            at = min(at, len(content) - 1)
            return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
        case 1:
            return content[:at] + rng.randbytes(rng.choice([1, 2, 9])) + content[to:]
        case 2 | 3 | 4:
            return content[:at] + rng.choice(TOKENS) + content[to:]
        case 5:
            return content[:at]
        case 6:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            return content[:at] + other[begin : begin + rng.choice([1, 40, 4000])] + content[to:]
    lines = content.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case _:
            lines[first] = b""
    return b"\n".join(lines)

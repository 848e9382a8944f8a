"""Languages of dictionaries, as their names and files spell them: ``freedict-eng-tur`` is of en and tr."""

import re
from collections.abc import Sequence

from corpora.corpus import Languages
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.joint import LANGUAGES, listed, subtags, within
from corpora.paths import plain_name

_LONG = (
    "ara ar bul bg ces cs cze cs dan da deu de ger de ell el gre el eng en spa es est et fas fa per fa fin fi fra fr "
    "fre fr heb he hin hi hrv hr hun hu ind id ita it jpn ja kor ko lit lt lav lv nld nl dut nl pol pl por pt ron ro "
    "rum ro rus ru slk sk slo sk slv sl swe sv swa sw tur tr ukr uk vie vi zho zh chi zh afr af bre br cat ca cym cy "
    "wel cy epo eo eus eu baq eu glg gl gle ga isl is ice is kat ka geo ka kur ku lat la mkd mk mac mk nor no nob nb "
    "nno nn oci oc san sa srp sr tha th"
).split()
_CODES = dict(zip(_LONG[::2], _LONG[1::2], strict=True))
CODES = frozenset({*_CODES.values(), *LANGUAGES.values()})
"""Of languages that are known."""
_TWO = re.compile(r"(?=(?<![a-z])([a-z]{2,10})[-_]([a-z]{2,10})(?![a-z]))")


def code_of(name: str) -> str:
    """The code of ISO 639-1 of a language, by its code or English name; what is unknown stays, in lower case."""
    first = subtags(name)[0]
    return _CODES.get(first) or LANGUAGES.get(first, first)


def languages_of_name(path: StrPath) -> Languages:
    """The two languages in a file's name such as ``freedict-eng-tur``, ``en-tr.txt`` or ``English-Turkish``."""
    pairs = _TWO.findall(plain_name(path).lower())
    known = [(code_of(one), code_of(other)) for one, other in pairs if {code_of(one), code_of(other)} <= CODES]
    return known[-1] if known else (None, None)


def language_among(path: StrPath, names: Sequence[str], languages: Languages) -> str:
    """The one of the names of a file that is of the text's target, else of its source, else English, else the first.

    Raises CorpusError where the text has two other languages.
    """
    for wanted in languages[::-1]:
        found = [name for name in names if wanted and (within(name, wanted) or code_of(name) == code_of(wanted))]
        if found:
            return found[0]
    if all(one and code_of(one) in CODES for one in languages):
        what = f"has translations in {listed(names)}"
        raise CorpusError(path, 0, what, hint="name the languages of the text by `source` and `target`")
    return next((name for name in names if code_of(name) == "en"), names[0])

"""Languages of dictionaries, as their names and files spell them: ``freedict-eng-tur`` is of en and tr."""

import re

from corpora.corpus import Languages
from corpora.files import StrPath
from corpora.formats.joint import LANGUAGES, subtags
from corpora.recognize import plain_name

_LONG = (
    "ara ar bul bg ces cs cze cs dan da deu de ger de ell el gre el eng en spa es est et fas fa per fa fin fi fra fr "
    "fre fr heb he hin hi hrv hr hun hu ind id ita it jpn ja kor ko lit lt lav lv nld nl dut nl pol pl por pt ron ro "
    "rum ro rus ru slk sk slo sk slv sl swe sv swa sw tur tr ukr uk vie vi zho zh chi zh afr af bre br cat ca cym cy "
    "wel cy epo eo eus eu baq eu glg gl gle ga isl is ice is kat ka geo ka kur ku lat la mkd mk mac mk nor no nob nb "
    "nno nn oci oc san sa srp sr tha th"
).split()
_CODES = dict(zip(_LONG[::2], _LONG[1::2], strict=True))
_KNOWN = {*_CODES.values(), *LANGUAGES.values()}
_TWO = re.compile(r"(?<![a-z])([a-z]{2,3})[-_]([a-z]{2,3})(?![a-z])")


def code_of(name: str) -> str:
    """The code of ISO 639-1 of a language, by its code or English name; what is unknown stays, in lower case."""
    first = subtags(name)[0]
    return _CODES.get(first) or LANGUAGES.get(first, first)


def languages_of_name(path: StrPath) -> Languages:
    """Those that a file's name, as it ends in ``eng-tur`` or ``en-tr``, says."""
    pairs = _TWO.findall(plain_name(path).lower())
    known = [(code_of(one), code_of(other)) for one, other in pairs if {code_of(one), code_of(other)} <= _KNOWN]
    return known[-1] if known else (None, None)

"""``aligner terms``."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

from aligner.cli.messages import refuse_idle, say
from aligner.cli.options import (
    FORCE,
    QUIET,
    argument,
    command,
    data_option,
    output_option,
    texts_and_links,
)
from aligner.cli.outputs import Output
from aligner.model.settings import AlignSettings
from corpora import SettingError
from corpora.errors import counted

if TYPE_CHECKING:
    from corpora.terms import Pair, Term

_TERMS = "source", "target", "count", "p(target|source)", "p(source|target)", "score", "other forms", "pairs"
_DEVIATIONS = "pair", "term", "expected", "found", "source", "target"
_ENDS = "tsv", "csv", "xlsx", "tbx", "html"


@command(threads=True, hidden="columns source target")
def terms(
    source: str = argument("SRC", "Source text, or a whole corpus."),
    target: str | None = argument("TGT|LINKS", "Target text; or links, if SRC is a whole corpus.", None),
    links: str | None = argument("LINKS", "Links of these pairs; without them they are aligned first.", None),
    *,
    settings: Annotated[AlignSettings, "model dictionary source target columns untranslated tokenize keep"],
    check: str | None = data_option(
        None,
        "List where the text does not translate terms as GLOSSARY does: TBX, CSV, XLSX, TMX, or source TAB target.",
        metavar="GLOSSARY",
    ),
    least: int = data_option(3, "Occurrences of a term.", metavar="N", least=1),
    longest: int = data_option(4, "Words of a term.", metavar="N", least=1, most=20),
    stop: str | None = data_option(
        None, "Further words that no term begins or ends with, of both sides.", metavar="FILE"
    ),
    output: str = output_option(
        "-",
        "To .tsv, .csv, .xlsx, .tbx (a termbase) or .html (a page); - is standard output.",
        "o",
        metavar="FILE",
    ),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """List terms of a text with their translations, or check given ones.

    Terms are phrases, of one word or more, that translate each other and that the text is about; the best come first.
    """
    end = output.rpartition(".")[2].lower() if "." in output else "tsv"
    ends = _ENDS if check is None else _ENDS[:3]
    if end not in ends:
        raise SettingError(f"{output} ends in none of {', '.join(f'.{one}' for one in ends)} (name it so)")
    if check is not None:
        refuse_idle("with --check", least=least != 3, longest=longest != 4, stop=stop)
    target, links = texts_and_links(target, links)
    if links is not None:
        refuse_idle("on links (leave LINKS out)", model=settings.model, dictionary=settings.dictionary)
    from corpora.apostrophes import tokenizing
    from corpora.conversion import word_pairs
    from corpora.files import read_lines, refuse_inputs, spill_file
    from corpora.formats.jsonl import write_jsonl
    from corpora.formats.sheets import kind_of_rows, write_rows
    from corpora.glossaries import read_glossary
    from corpora.link_files import open_links
    from corpora.readers import open_text
    from corpora.terms import deviations, find_terms

    kind_of_rows(output)  # which raises now, if ever
    corpus = open_text(source, target, settings.reading)
    refuse_inputs(output, [*corpus.files, links, check, stop])
    languages = settings.source or corpus.source_language, settings.target or corpus.target_language
    normalizers = tokenizing(settings.tokenize, settings.keep, [corpus] if corpus.can_be_read_twice else [])
    glossary = [] if check is None else read_glossary(check, languages, normalizers)
    words = (
        set() if stop is None else {w.decode(errors="replace").casefold() for n in read_lines(stop) for w in n.split()}
    )
    (writer,) = Output(output, "jsonl", force=force, quiet=quiet).open()
    with spill_file("pairs") as spill, writer.file as file:

        def pairs() -> "Iterator[Pair]":
            spill.seek(0)
            for line in spill:
                pair = json.loads(line)
                yield pair["source"], pair["target"], [(link[0], link[1]) for link in pair["links"]]

        if links is None:
            to_pairs = replace(writer, file=nullcontext(spill))
            from aligner.cli.align_text import align_text

            align_text(source, target, settings, [to_pairs])
        else:
            corpus = corpus.refuse_pipes()
            corpus = corpus.in_tokens(normalizers)
            found_links = open_links(links, lengths=corpus.lengths())
            write_jsonl(spill, word_pairs(corpus, found_links))
        if check is not None:
            rows = [(one[0], one[1], " | ".join(one.expected), *one[3:]) for one in deviations(pairs(), glossary)]
            write_rows(file, end, _DEVIATIONS, rows)
            done = counted(len(rows), "occurrence") + " with another translation"
        else:
            found = find_terms(pairs, least=least, longest=longest, stop=words)
            name = " – ".join(dict.fromkeys(Path(side).name for side in (corpus.source_file, corpus.target_file)))
            _write(file, end, found, pairs(), (languages[0] or "und", languages[1] or "und"), name)
            done = counted(len(found), "term")
    if not quiet:
        say(f"{done}, written to {'standard output' if output == '-' else output}")


def _write(
    file: IO[bytes], end: str, found: "Sequence[Term]", pairs: "Iterable[Pair]", languages: tuple[str, str], name: str
) -> None:
    """Write terms as the end of the name says.  pairs: of the text.  name: of the corpus."""
    if end == "html":
        from aligner.pages.terms import write_page

        file.write(write_page(found, pairs, languages, name).encode(errors="replace"))
    elif end == "tbx":
        from corpora.formats.tbx import write_tbx

        if languages[0] == languages[1]:
            languages = "x-source", "x-target"  # of private use
        spellings = ([(term.source, term.target), *term.forms] for term in found)
        concepts = (
            [(code, [*dict.fromkeys(form[side] for form in forms)]) for side, code in enumerate(languages)]
            for forms in spellings
        )
        write_tbx(file, f"aligner terms, of {name}", languages[0], concepts)
    else:
        from corpora.formats.sheets import write_rows

        rows = (
            (
                *term[:3],
                round(term.given_source, 4),
                round(term.given_target, 4),
                round(term.score, 2),
                " | ".join(map(" – ".join, term.forms)),
                " ".join(str(number) for number, _ in term.places),
            )
            for term in found
        )
        write_rows(file, end, _TERMS, rows)

"""``aligner score``."""

import json
from array import array
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import IO, Annotated, Literal

from aligner.cli.messages import refuse_idle
from aligner.cli.options import FORCE, OUTPUT, QUIET, argument, command, output_option, texts_and_links
from aligner.cli.outputs import Output
from aligner.model.settings import AlignSettings
from aligner.progress import progress_bar

_HEADER = "line", "support", "faults", "source", "target"


@command(threads=True, model="Trained model; without it the text itself, for LINKS aligner.model.")
def score(
    source: str = argument("SRC", "Source text, or a whole corpus."),
    target: str | None = argument("TGT|LINKS", "Target text; or links, if SRC is a whole corpus.", None),
    links: str | None = argument("LINKS", "Links of these pairs, in the model's tokens; else the best ones.", None),
    *,
    settings: Annotated[AlignSettings, "model dictionary source target columns untranslated tokenize keep"],
    output: str = OUTPUT,
    format_: Literal["tsv", "worst", "jsonl", "scored", "pharaoh"] = output_option(
        "tsv", "Scores of pairs and links; a table, the worst pairs first; or as align writes."
    ),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Tell how well pairs translate each other, and how sure links are.

    Or list the worst pairs first. By a model (-m), or by what the text itself says of who translates whom.
    """
    target, links = texts_and_links(target, links)
    (writer,) = Output(output, "jsonl" if format_ == "worst" else format_, force=force, quiet=quiet).open()
    if links is not None:
        refuse_idle("on links (leave LINKS out)", tokenize=settings.tokenize, dictionary=settings.dictionary)
        settings = replace(settings, model=settings.model or "aligner.model")
    with progress_bar(quiet):
        from aligner.cli.align_text import align_text
    if format_ != "worst":
        align_text(source, target, settings, [writer], given=links)
        return
    from corpora.files import spill_file
    from corpora.formats.sheets import kind_of_rows, write_rows

    kind = kind_of_rows(output)
    with spill_file("pairs") as pairs, writer.file as file:
        to_pairs = replace(writer, file=nullcontext(pairs))
        align_text(source, target, settings, [to_pairs], given=links)
        write_rows(file, kind, _HEADER, _worst_first(pairs))


def _worst_first(pairs: IO[bytes]) -> Iterator[tuple[object, ...]]:
    """The rows of all pairs with words, of a file of jsonl, from the least support on."""
    import numpy as np

    from corpora.suspects import faults, odd_lengths, support

    places, supports, lengths = array("q", [0]), array("d"), array("q")
    pairs.seek(0)
    for line in pairs:
        pair = json.loads(line)
        words = len(pair["source"]), len(pair["target"])
        places.append(places[-1] + len(line))
        lengths.extend(words)
        supports.append(support(words[0], words[1], {(j, k): min(p, 1.0) for j, k, p in pair["links"]}))
    odd = odd_lengths(np.array(lengths, np.int64).reshape(-1, 2))
    for place in np.argsort(supports, kind="stable").tolist():
        pairs.seek(places[place])
        pair = json.loads(pairs.readline())
        sides = pair["source"], pair["target"]
        if any(sides):
            found = ", ".join(faults(*sides, len(pair["links"]), bool(odd[place])))
            yield place + 1, round(supports[place], 4), found, *map(" ".join, sides)

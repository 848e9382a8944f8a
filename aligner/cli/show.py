"""``aligner show``."""

from itertools import islice, repeat
from typing import Annotated

from aligner.cli.options import LINK_TOKENS, SHOWN_GOLD, argument, command, data_option
from aligner.model.settings import AlignSettings
from corpora.errors import CorpusError
from corpora.reading import Reading


@command(tokenize=LINK_TOKENS)
def show(
    source: str = argument("SRC", "Source text."),
    target: str = argument("TGT|LINKS", "Target text; or links, if SRC is a whole corpus."),
    links: str | None = argument("LINKS", "Links of these pairs: of jsonl the words, too.", None),
    *,
    reading: Reading,
    gold: str | None = SHOWN_GOLD,
    tokens: Annotated[AlignSettings, "tokenize keep"],
    number: int = data_option(10, "Pairs to draw.", "--pairs -n", metavar="N", least=1, most=10**12),
    first: int = data_option(1, "Line of the first.", "--from", metavar="K", least=1, most=10**12),
) -> None:
    """Draw alignments in the terminal: a grid for each pair, colours by probability, shapes by gold."""
    from rich.console import Console

    from aligner.cli.grid import COLOURS, SHAPES, draw_grid
    from corpora.apostrophes import tokenizing
    from corpora.link_files import open_links
    from corpora.readers import open_text

    texts = source, target if links else None
    links = links or target
    corpus = open_text(*texts, reading).refuse_pipes()
    corpus = corpus.in_tokens(tokenizing(tokens.tokenize, tokens.keep, [corpus]))
    scored = open_links(links, lengths=corpus.lengths(), own_words=True)
    lengths = None if scored.format == "jsonl" else corpus.lengths()
    truths = open_links(gold, lengths=lengths) if gold else repeat(None)
    pairs = zip(corpus.texts(), scored.pairs, truths, strict=False)
    console, text, probable = Console(highlight=False, soft_wrap=True), None, False
    for text, found, truth in islice(pairs, first - 1, first - 1 + number):
        corpus.check_utf8([text])
        sentences = found.words or [[token.decode() for token in side.split()] for side in text[1:]]
        links_found = {link: found.scores.get(link) for link in found.sure | found.possible}
        probable |= bool(found.scores)
        console.print(f"line {text[0]}", style="bold")
        for row in draw_grid(sentences[0], sentences[1], links_found, truth, console.width):
            console.print(row)
    if text is None:
        raise CorpusError(source, 0, f"has no line {first}", hint="choose an earlier one")
    colours = COLOURS if probable else "the links have no probabilities (align writes them with --format scored)"
    console.print(f"{SHAPES}\n{colours}", style="dim")

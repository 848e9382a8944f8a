"""``aligner show``."""

import json
import re
from itertools import islice, repeat
from typing import Annotated

import typer

from aligner.cli import options as opt
from corpora.errors import CorpusError


def show(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Target text, line by line the translation of SRC.")],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Links of these pairs: of jsonl the words, too.")],
    gold: opt.ShownGold = None,
    number: opt.ShownPairs = 10,
    first: opt.FirstShown = 1,
    debug: opt.Debug = False,
) -> None:
    """Draw alignments in the terminal: a grid for each pair, colours by probability, shapes by gold."""
    from rich.console import Console

    from aligner.report.grid import COLOURS, SHAPES, draw_grid
    from corpora.files import read_lines
    from corpora.link_files import open_links
    from corpora.readers import open_texts
    from corpora.recognize import head, is_stream, links_format

    corpus, with_words = open_texts(source, target), links_format(links, head(links)) == "jsonl"
    streams = [open_links(f, lengths=None if with_words else corpus.lengths()) for f in (links, gold) if f is not None]
    scored = streams[0].format in ("pharaoh", "jsonl") and not is_stream(links)
    lines = read_lines(links) if scored else repeat(b"")
    pairs = zip(corpus.texts(), lines, streams[0], streams[1] if gold else repeat(None), strict=False)
    console, text, probable = Console(highlight=False, soft_wrap=True), None, False
    for text, line, answer, truth in islice(pairs, first - 1, first - 1 + number):
        corpus.check_utf8([text])
        sentences = [[token.decode() for token in side.split()] for side in text[1:]]
        with_scores = re.findall(rb"(\d+)-(\d+):([\d.]+)", line)
        if with_words:
            entry = json.loads(line)
            sentences, with_scores = [entry["source"], entry["target"]], entry["links"]
        scores = {(int(j), int(k)): float(score) for j, k, score in with_scores}
        probable |= bool(scores)
        links_found = {link: scores.get(link) for link in answer.sure | answer.possible}
        console.print(f"line {text[0]}", style="bold")
        for row in draw_grid(sentences[0], sentences[1], links_found, truth, console.width):
            console.print(row)
    if text is None:
        raise CorpusError(source, 0, f"has no line {first}", hint="choose an earlier one")
    colours = COLOURS if probable else "the links have no probabilities (align writes them with --format scored)"
    console.print(f"{SHAPES}\n{colours}", style="dim")

"""``aligner lexicon``."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

from aligner.cli.messages import refuse_idle, say
from aligner.cli.options import FORCE, LINK_TOKENS, QUIET, argument, command, output_option
from aligner.model.settings import AlignSettings
from aligner.progress import progress_bar, tell_items
from corpora import SettingError
from corpora.errors import counted
from corpora.reading import Reading


@command(tokenize=LINK_TOKENS)
def lexicon(
    source: str = argument("MODEL|SRC", "A model; or source text; or text with links."),
    target: str | None = argument("TGT|LINKS", "Target text; or links, if SRC is a whole corpus.", None),
    links: str | None = argument("LINKS", "Links of these pairs, in any format.", None),
    *,
    reading: Reading,
    tokens: Annotated[AlignSettings, "tokenize keep"],
    to: Literal["tsv", "moses", "marian", "bicleaner"] = output_option(
        "tsv", "How the files are written and named; see docs/lexicons.md."
    ),
    best: int | None = output_option(None, "Of each word, the best K only.", metavar="K", least=1, shown="all"),
    output: str = output_option("lexicon", "To PREFIX.tsv, or two others.", "o", metavar="PREFIX"),
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Write who translates whom, for other tools: probabilities by counts of links, or by what a model expects."""
    with ExitStack() as written, progress_bar(quiet) as show:
        from aligner.model.file import is_model
        from aligner.model.model import load
        from corpora.apostrophes import tokenizing
        from corpora.files import refuse_inputs, write_packed
        from corpora.formats.lexicon import LEXICON_FORMATS, write_lexicon
        from corpora.link_counts import count_links
        from corpora.link_files import holds_links, open_links
        from corpora.readers import open_text

        if links is None and target is not None:
            if Path(target).is_file() and not holds_links(target):
                raise SettingError("two texts need their links, too (give SRC TGT LINKS, or a whole corpus and LINKS)")
            target, links = None, target
        if tokens.tokenize and links is None:
            raise SettingError("--tokenize is for links of a text (give SRC TGT LINKS, or leave it out)")
        corpus = None
        if links is not None or not is_model(source):
            corpus = open_text(source, target, reading)
            if links is not None:
                corpus = corpus.refuse_pipes()
                corpus = corpus.in_tokens(tokenizing(tokens.tokenize, tokens.keep, [corpus]))
        else:
            refuse_idle("with a model (give text and links, or leave it out)", **vars(reading))
        outputs = [f"{output}.{suffix}" for suffix in LEXICON_FORMATS[to].suffixes]
        for name in outputs:
            refuse_inputs(name, [source, links, *(corpus.files if corpus else [])])
        files = [written.enter_context(write_packed(name, force=force)) for name in outputs]
        if corpus is None:
            counts = load(source).link_counts()
        else:
            pairs = corpus.links() if links is None else open_links(links, lengths=corpus.lengths())
            counts = count_links(corpus, tell_items(show, "counting", pairs))
        write_lexicon(files, counts, to, best)
    if not quiet:
        say(f"{counted(len(counts.counts), 'pair')} of linked words counted, written to {', '.join(outputs)}")

"""``aligner lexicon``."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from aligner.cli import options as opt
from aligner.cli.messages import refuse_idle, say
from aligner.progress import progress_bar, tell_items
from corpora import SettingError
from corpora.errors import counted
from corpora.reading import AS_IT_IS, Reading


@opt.reads_corpus()
def lexicon(
    source: Annotated[str, typer.Argument(metavar="MODEL|SRC", help="A model; or source text; or text with links.")],
    target: Annotated[
        str | None, typer.Argument(metavar="TGT|LINKS", help="Target text; or links, if SRC is a whole corpus.")
    ] = None,
    links: Annotated[str | None, typer.Argument(metavar="LINKS", help="Links of these pairs, in any format.")] = None,
    reading: Reading = AS_IT_IS,
    to: opt.ToLexicon = "tsv",
    best: opt.BestTranslations = None,
    tokenize: opt.LinkTokens = False,
    keep: opt.Keep = None,
    output: opt.LexiconPrefix = "lexicon",
    force: opt.Force = False,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
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
        if (tokenize or keep is not None) and links is None:
            raise SettingError("--tokenize is for links of a text (give SRC TGT LINKS, or leave it out)")
        corpus = None
        if links is not None or not is_model(source):
            corpus = open_text(source, target, reading)
            if links is not None:
                corpus = corpus.rereadable()
                corpus = corpus.in_tokens(tokenizing(tokenize, keep, [corpus]))
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

"""``aligner combine``."""

from aligner.cli.messages import refuse_idle
from aligner.cli.options import FORCE, LINKED_TEXT, OUTPUT, QUIET, argument, command
from aligner.progress import progress_bar, tell_items
from corpora.reading import Reading


@command()
def combine(
    links: list[str] = argument("LINKS", "Links of each aligner, i-j or i-j:probability."),
    *,
    text: str | None = LINKED_TEXT,
    reading: Reading,
    output: str = OUTPUT,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Combine the links of several aligners into the best consensus.

    They may be several runs of one. What all of them link is linked; where they disagree, weights that come with the
    program decide.
    """
    if text is None:
        refuse_idle("without a text (give --text)", **vars(reading))
    with progress_bar(quiet) as show:
        from aligner.model.consensus import combine as consensus
        from corpora.conversion import side_by_side
        from corpora.files import refuse_inputs, write_packed
        from corpora.formats.pharaoh import write_pharaoh
        from corpora.link_files import open_links
        from corpora.readers import open_corpus

        corpus = None if text is None else open_corpus(text, **vars(reading)).refuse_pipes()
        refuse_inputs(output, [*links, *(() if corpus is None else corpus.files)])
        lengths = [None if corpus is None else corpus.lengths() for _ in links]
        streams = [open_links(file, lengths=one, probable=True) for file, one in zip(links, lengths, strict=True)]
        found = consensus(side_by_side(links, streams))
        with write_packed(output, force=force) as file:
            write_pharaoh(file, tell_items(show, "writing", found))

"""``aligner convert``."""

from contextlib import ExitStack
from functools import partial

import typer

from aligner.cli.messages import refuse_idle
from aligner.cli.options import FORCE, QUIET, argument, command, links_option
from aligner.progress import progress_bar, tell_items
from corpora import SettingError
from corpora.reading import Reading


@command()
def convert(
    source: str = argument("IN", "Links, or a corpus with links; - is standard input."),
    output: str = argument("OUT", "File to write; - is standard output."),
    target: str | None = argument("OUT2", "Of a corpus: write source to OUT, target here, as plain text.", None),
    *,
    to: str | None = links_option(
        None,
        "pharaoh, talp, naacl; with words: csv, xlsx, tmx, jsonl, conllu, comtrans, clearaligner, giza (sure only).",
        metavar="FORMAT",
        shown="as OUT is named",
    ),
    from_: str | None = links_option(None, "Format of IN; else recognised.", metavar="FORMAT"),
    text: str | None = links_option(None, "The text, for formats with words.", metavar="PREFIX"),
    transpose: bool = links_option(False, "Swap source and target."),
    reading: Reading,
    force: bool = FORCE,
    quiet: bool = QUIET,
) -> None:
    """Convert links to another format, or a corpus to plain text.

    The words of a file with labels, such as CoNLL-U, too, become plain text.

    --source and --target name the languages where a file of links has none, as of JSON lines that become TMX.
    """
    if target is not None:
        refuse_idle("on text (leave it or OUT2 out)", to=to, text=text, transpose=transpose, **{"from": from_})
    with ExitStack() as written, progress_bar(quiet) as show:
        from corpora.conversion import convert as run
        from corpora.conversion import files_of, format_of, write_text, write_texts
        from corpora.files import refuse_inputs, write_packed
        from corpora.parallel import has_labels, lines_of
        from corpora.readers import open_corpus

        watched = partial(tell_items, show, "writing")
        if target is not None:
            if output == target:
                raise SettingError(f"OUT and OUT2 are both {output} (name two files)")
            corpus = open_corpus(source, **vars(reading))
            for name in (output, target):
                refuse_inputs(name, corpus.files)
            files = [written.enter_context(write_packed(name, force=force)) for name in (output, target)]
            write_texts(corpus, watched(corpus.texts()), *files)
            return
        to = to or format_of(output)
        if to is None and has_labels(source):
            others = {"from": from_, **vars(reading)}
            refuse_idle("on a file with labels, whose words are written", text=text, transpose=transpose, **others)
            refuse_inputs(output, [source])
            write_text(watched(lines_of(source)), written.enter_context(write_packed(output, force=force)))
            return
        if to is None:
            raise typer.BadParameter(f"the name {output!r} does not tell the format (give --to)", param_hint="--to")
        for path in filter(None, (source, text)):
            refuse_inputs(output, files_of(path, reading))
        file = written.enter_context(write_packed(output, force=force))
        run(source, file, to=to, from_=from_, text=text, reading=reading, transpose=transpose, watched=watched)

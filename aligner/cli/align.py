"""``aligner align``."""

from aligner.cli.messages import say
from aligner.cli.options import argument, command
from aligner.cli.outputs import Output
from aligner.model.settings import AlignSettings
from aligner.progress import progress_bar
from corpora.errors import EmptyCorpus


@command(threads=True, hidden="columns source target")
def align(
    source: str = argument("SRC", "Source text, or a whole corpus; - reads 'source ||| target' lines."),
    target: str | None = argument("TGT", "Target text, line by line the translation of SRC.", None),
    *,
    settings: AlignSettings,
    output: Output,
) -> None:
    """Align text: one line of links for each pair of lines.

    With a trained model (-m), or by what the text itself says of who translates whom and the weights that come with
    the program, which were learnt from hand-aligned text of several languages.
    """
    output.check(settings)
    from corpora.resuming import PartialOutput

    blocks = PartialOutput(output.path, force=output.force) if output.resume else None  # these raise now, if ever
    writers = output.open()
    with progress_bar(output.quiet):
        from aligner.cli.align_text import align_text
    try:
        if output.cluster is not None:
            from aligner.cli.cluster import align_on_cluster

            align_on_cluster(source, target, settings, writers[0])
        else:
            align_text(source, target, settings, writers, blocks=blocks)
    except EmptyCorpus as error:
        if output.resume or error.path == output.remap:
            raise
        for writer in writers:
            with writer.file:
                pass
        if not output.quiet:
            say(f"{error.path}: has no lines to align")

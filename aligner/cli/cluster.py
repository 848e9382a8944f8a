"""``--cluster``: counting and aligning by the workers of a cluster; imported when a command is at work."""

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from aligner.cli.align_text import align_shard
from aligner.cli.inputs import check_texts, open_for_model
from aligner.cli.options import skipping_pairs
from aligner.cli.outputs import Output, Writer
from aligner.cluster import connection
from aligner.cluster.engine import ClusterEngine
from aligner.model.model import load
from aligner.model.settings import AlignSettings
from aligner.progress import Progress, progress_bar
from corpora import SettingError
from corpora.encodings import named_encoding
from corpora.errors import EmptyCorpus
from corpora.files import refuse_inputs, spill_directory, spilling_beside
from features.translation.counting import Engine

_PAIRS_A_SHARD, _MOST_SHARDS = 1024, 128
"""On a cluster a shard has as many pairs, or more in long texts."""


@contextmanager
def counting_on(address: str) -> Iterator[Engine]:
    """Connect to a cluster, and yield the engine that counts text there."""
    _outlive_others()
    with spill_directory("cluster") as folder, connection.connect(address) as connected:
        yield ClusterEngine(connected, folder)


def _outlive_others() -> None:
    """Turn the end of a worker, or of its nanny, into an error instead of the end of this process.

    Raises SettingError where text is in an encoding that workers do not know of.
    """
    if named_encoding() is not None:
        raise SettingError("the workers of a cluster read UTF-8 and UTF-16 alone (convert the text)")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def align_on_cluster(source: str, target: str | None, settings: AlignSettings, writer: Writer) -> None:
    """Let workers align shards of a text, each into a file in a folder beside the output, and join the files."""
    _outlive_others()
    output, model = writer.output, str(settings.model)
    with skipping_pairs(settings) as skipping:
        with spilling_beside(output.path), spill_directory("cluster") as folder, progress_bar(output.quiet) as show:
            corpus = skipping(open_for_model(load(model), model, source, target, settings.reading).refuse_pipes())
            refuse_inputs(output.path, [corpus.source_file, corpus.target_file, model])
            pairs = check_texts(corpus, [])
            if not pairs:
                raise EmptyCorpus(source)
            shards = min(-(-pairs // _PAIRS_A_SHARD), _MOST_SHARDS)
            files = [str(Path(file).resolve()) for file in (source, target) if file is not None]
            settings = replace(settings, model=str(Path(model).resolve()))
            calls = [
                (
                    [*files, None][:2],
                    replace(settings, shard=(n, shards)),
                    Output(str(folder / f"{n}"), output.format, quiet=True),
                )
                for n in range(1, shards + 1)
            ]
            total = [0, 0, 0, 0]
            with connection.connect(str(output.cluster)) as connected:
                for _, counts in connected.run(align_shard, calls):
                    total = [a + b for a, b in zip(total, counts, strict=True)]
                    show(Progress("aligning", total[0], pairs, "pairs"))
            with writer.file as file:
                for _, _, shard in calls:
                    with Path(shard.path).open("rb") as part:
                        shutil.copyfileobj(part, file)
                    Path(shard.path).unlink()
        writer.report(*total)

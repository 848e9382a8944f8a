"""``aligner warm-up``."""

import time
from importlib.resources import as_file, files

from aligner.cli.messages import say
from aligner.cli.options import QUIET, command
from aligner.progress import progress_bar


@command(threads=True)
def warm_up(
    quiet: bool = QUIET,
) -> None:
    """Compile now all that align, train and evaluate need, which else the first of them does: for an image, say.

    Trains on a few pairs that come with the program. Other losses and solvers compile what they need when first used.
    """
    began = time.monotonic()
    with progress_bar(quiet) as show:
        from aligner.errors import AlignerError
        from aligner.progress import Hooks
        from aligner.training.train import train
        from corpora.compiled import kept_kernels, kernel_folder

        folder = kernel_folder()
        if folder is None:
            raise AlignerError("kernels can be kept nowhere (set NUMBA_CACHE_DIR to a folder that can be written)")
        with as_file(files("corpora") / "sample" / "more") as sample:
            train(sample / "train", hooks=Hooks(on_progress=show)).model.warm_up()
    if not quiet:
        say(f"{kept_kernels()} kernels are kept in {folder}, {time.monotonic() - began:.1f} s")

"""Compiling ahead: while a command compiles the kernels it needs first, another process compiles those it needs last.

Both keep them in the same folder, where each looks before it compiles. The other process begins when the first kernel
is compiled, so that there is none where all are kept, and ends with this one, however that ends: it reads standard
input, which is a pipe from here. What happens to it has no effect but on time.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Within this block, compile in two processes, if kernels can be kept and there are two cores to use."""
    import subprocess

    from corpora.compiled import before_first_compilation, kernel_folder
    from corpora.threads import cores

    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        if cores() > 1 and kernel_folder() is not None:
            code = f"from {__name__} import compile_until_the_end; compile_until_the_end()"
            # The modules that are found here, and none that stand where the user is.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            nowhere = subprocess.DEVNULL
            command = [sys.executable, "-P", "-c", code]
            with suppress(OSError):
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere
                )
                started.append(process)

    try:
        with before_first_compilation(start):
            yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


def compile_until_the_end() -> None:
    """What the other process does."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from aligner.model.warming import call_kernels_of_features

    call_kernels_of_features()


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(0)

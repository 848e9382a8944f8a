"""A file that is whole takes its place under its name."""

import os
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE

from corpora.errors import CorpusError


def put_in_place(whole: Path, resolved: Path, path: str | os.PathLike[str], *, replace: bool) -> None:
    """Rename a file, for good.

    resolved: the new name, `path` as the user wrote it.  replace: a file that has the name.  Otherwise, such a file is
    another process's, as there was none when the work began: CorpusError.
    """
    try:
        if not replace:
            try:
                resolved.hardlink_to(whole)  # unlike renaming, fails if there is a file
            except FileExistsError:
                raise
            except (NotImplementedError, OSError):  # not every file system has links
                resolved.open("xb").close()
        whole.replace(resolved)  # of two links to one file, this may leave both
        whole.unlink(missing_ok=True)
    except FileExistsError as error:
        what = "file exists: another process has written it in the meantime"
        raise CorpusError(path, 0, what, hint="choose another name or pass `force`") from error
    sync_folder(resolved.parent)


def keep_mode(replaced: Path, by: Path, least: int = 0) -> None:
    """Give a file the permissions of the one it is to replace, if that exists, and at least those in `least`."""
    with suppress(OSError):  # not every file system has any
        by.chmod(S_IMODE(replaced.stat().st_mode) | least)


def sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders, nor every file system writes them at once
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

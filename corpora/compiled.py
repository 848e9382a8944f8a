"""Compiled kernels of numba, which release the interpreter lock, cached in a folder of their own version."""

import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba as nb
import numba.core.event

SUMS = {"reassoc", "contract", "nsz"}
"""For ``fastmath``: sums may be taken in any order; NaN and infinities keep their meaning."""
MAXIMA = {"nnan", "nsz"}
"""For ``fastmath``: maxima may be taken of several numbers at once; none is NaN, infinities keep their meaning."""

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Options of all kernels. They leave out tests for divisions by 0, and wrappers for C, which nobody calls."""

_ROOT = Path(__file__).resolve().parent.parent
_COMPILED = re.compile(rb"^@compiled|^@template|\(NamedTuple\):", re.MULTILINE)
_CONFIG: Any = nb.config  # mypy does not see its variables
_EVENTS: Any = numba.core.event

AHEAD = f"numba-{nb.__version__}-{sys.implementation.cache_tag}"
"""Folder, in the package `aligner_kernels`, of kernels that were compiled ahead by this numba and this Python."""
_TARGET = "x86-64-v3"
_TARGET_FEATURES = {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}
"""The processors that these are for, and what such a one has."""


compilations: Any = _EVENTS.RecordingListener()
"""The beginning and end of each compilation of a kernel that is not cached yet, in this process."""
_EVENTS.register("numba:compile", compilations)


def compiled(function: Callable[..., Any] | None = None, *, store: bool = True, **options: Any) -> Any:
    """Compile a kernel by numba.njit at its first call, with these options and those of all kernels (`_OPTIONS`).

    store: whether it is cached for later processes, if there is a folder for it (`kernel_folder`).
    """
    if function is None:
        return partial(compiled, store=store, **options)
    folder, given = kernel_folder() if store else None, _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = given if folder is None else str(folder)  # numba looks at it now, and not again
    try:
        return nb.njit(cache=folder is not None, **_OPTIONS, **options)(function)
    finally:
        _CONFIG.CACHE_DIR = given


@cache
def kernel_folder() -> Path | None:
    """The folder that caches the compiled kernels of this version; None where no folder can be written.

    In NUMBA_CACHE_DIR, else beside the program or in the user's cache; else, with a warning, in a temporary folder
    that is this user's alone. Kernels in a folder that can only be read are used, by way of a copy, and so are those
    that were compiled ahead.
    """
    ahead = compiled_ahead()
    name = f"aligner-kernels-{'' if ahead is None else f'{_TARGET}-'}{kernel_version()}"
    if _CONFIG.CACHE_DIR:
        places = [Path(_CONFIG.CACHE_DIR).absolute()]
    else:
        places = [_ROOT / "corpora" / "__pycache__"]
        with suppress(RuntimeError):  # a user without a home
            places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "aligner"))
    filled = [] if ahead is None else [ahead]
    for folder in (place / name for place in places):
        with suppress(OSError):
            return _ready(folder, filled)
        filled += [folder] if folder.is_dir() else []
    last = None
    with suppress(OSError):
        last = _ready(_temporary_place() / name, filled)
    where = "and every process compiles them again" if last is None else f"but only in {last.parent}"
    what = f"compiled kernels cannot be kept in {' or '.join(map(str, places))}, {where}"
    warnings.warn(f"{what} (set NUMBA_CACHE_DIR to a folder that can be written)", stacklevel=2)
    return last


def kept_kernels() -> int:
    """The number of kernels in the cache, which all processes share."""
    folder = kernel_folder()
    return 0 if folder is None else sum(1 for _ in folder.rglob("*.nbi"))


@cache
def compiled_ahead() -> Path | None:
    """The folder of kernels of this version that were compiled ahead, if they are installed and right for this machine.

    From now on all kernels of this process, the program's and others', are compiled for their kind of processor.
    Packages of such kernels are made by ``scripts/kernels.py``.
    """
    spec = find_spec("aligner_kernels")
    if spec is None or spec.origin is None or (_CONFIG.CPU_NAME, _CONFIG.CPU_FEATURES) != (None, None):
        return None
    from llvmlite.binding import get_host_cpu_features

    folder = Path(spec.origin).parent / AHEAD / kernel_version()
    has = {name for name, found in get_host_cpu_features().items() if found}
    if not has >= _TARGET_FEATURES or not folder.is_dir():
        return None
    _CONFIG.CPU_NAME, _CONFIG.CPU_FEATURES = _TARGET, ""
    return folder


def folder_of(package: str) -> str:
    """The name of the folder of a package's kernels, which numba makes from where its modules are."""
    caching: Any = numba.core.caching
    module = Path(__file__).absolute().parent.parent.joinpath(*package.split("."), "module.py")
    return str(caching._CacheLocator.get_suitable_cache_subpath(str(module)))


@cache
def kernel_version() -> str:
    """A digest of the code of all kernels, which call each other, and of the records that they take.

    numba caches a kernel together with the kernels it calls but looks for changes in its own file only, and fails to
    read a kernel that was cached for a record which is no longer there.
    """
    digest = hashlib.sha256()
    for path in sorted(path for name in ("aligner", "corpora", "features") for path in (_ROOT / name).rglob("*.py")):
        content = path.read_bytes()
        if _COMPILED.search(content):
            digest.update(f"{path.relative_to(_ROOT)}:{len(content)}:".encode() + content)
    return digest.hexdigest()[:16]


def _temporary_place() -> Path:
    """A temporary folder of this user alone, as its content is executed.  Raises OSError."""
    user = getattr(os, "getuid", int)()
    place = Path(tempfile.gettempdir(), f"aligner-{user}")
    place.mkdir(mode=0o700, exist_ok=True)
    if (place.lstat().st_uid, stat.S_IMODE(place.lstat().st_mode)) != (user, 0o700):
        raise PermissionError(place)
    return place


def _ready(folder: Path, filled: list[Path]) -> Path:
    """The folder, made from copies of filled ones unless it exists.  Raises OSError if it cannot be written."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
            made = Path(draft, folder.name)
            made.mkdir()
            for source in filled:
                for path in source.rglob("*.nb[ic]"):
                    package = path.parent.name
                    copy = made / (folder_of(package) if source == compiled_ahead() else package) / path.name
                    copy.parent.mkdir(exist_ok=True)
                    shutil.copyfile(path, copy)
            with suppress(OSError):  # another process was first
                made.rename(folder)
        versions = folder.parent.glob(folder.name[:-16] + "?" * 16)
        for old in sorted(versions, key=lambda version: version.stat().st_mtime)[:-3]:  # three are kept
            shutil.rmtree(old, ignore_errors=True)
    tempfile.TemporaryFile(dir=folder).close()
    return folder

"""``python -m aligner``: the ``aligner`` command."""

from __future__ import annotations

from aligner.cli import main

if __name__ == "__main__":
    main()

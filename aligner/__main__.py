"""``python -m aligner``: the ``aligner`` command."""

from aligner.cli import main

if __name__ == "__main__":
    main()

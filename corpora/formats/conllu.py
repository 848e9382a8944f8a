"""CoNLL-U: the sentences of both sides, one after the other, with their links in MISC.

``Align=2,3`` of a word are the words of the other sentence that it is linked to; ``AlignPossible=`` are those of links
that are only possible.  Udapi names linked words so (``util.MarkDiff``), and the sentences of one pair, ``# sent_id =
1/en`` and ``1/fr``.
"""

from collections.abc import Iterable
from typing import BinaryIO

from corpora.alignment import WordPair


def write_conllu(stream: BinaryIO, pairs: Iterable[WordPair], languages: tuple[str, str]) -> None:
    """Write source and target sentence of each pair, with words and links only; a side without words is left out."""
    blank = "\t_" * 7  # LEMMA to DEPS
    for number, (source, target, links) in enumerate(pairs, 1):
        for side, words in enumerate((source, target)):
            partners: list[dict[str, list[int]]] = [{} for _ in words]
            for name, kind in (("Align", links.sure), ("AlignPossible", links.possible)):
                for link in sorted(kind):
                    partners[link[side]].setdefault(name, []).append(link[1 - side] + 1)
            misc = ["|".join(f"{name}={','.join(map(str, to))}" for name, to in of.items()) or "_" for of in partners]
            rows = [f"{n}\t{word}{blank}\t{of}\n" for n, (word, of) in enumerate(zip(words, misc, strict=True), 1)]
            head = f"# sent_id = {number}/{languages[side]}\n# text = {' '.join(words)}\n"
            stream.write("".join([head, *rows, "\n"] if rows else []).encode())

"""Carry inline markup of a text across links to its translation."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from corpora.alignment import Link
from corpora.inline.kinds import Marked, Tag

_OUTSIDE = 0.7
"""What a link to a word outside of a span takes from it, as a share of what one to a word inside gives."""

_UNLINKED = -0.01
"""What an unlinked word gives: at the edges of a span it stays outside, between linked words it is in."""

_TAKEN = -1e9

_SURE = 0.85
"""Least probability of the links at both edges of a sure span: of these 95 % are right."""

Run = tuple[int, int]  # tokens, from the first to the end


@dataclass(eq=False)
class Placed:
    """A tag of the source in the target text.

    start, end: characters, equal for what has no words there.  parent: what it is in.  sure: whether all its words are
    linked, and to words that stand together; codes are sure at the edges of the text alone.
    """

    tag: Tag
    start: int
    end: int
    parent: "Placed | None"
    sure: bool = False


def carry(source: Marked, target: Marked, links: Mapping[Link, float]) -> list[Placed]:
    """Place the tags of a source text in its translation, in the order of the source, each once.

    links: of the tokens, with probabilities.  Codes and placeholders that the target has are left out; placeholders
    that it lacks are placed, too.  A target that has tags around words gets none.
    """
    has_none = not (source.tags or source.placeholders) or any(tag.is_pair for tag in target.tags)
    return [] if has_none else _Carrier(source, target, links).carry()


def write(target: Marked, placed: Sequence[Placed]) -> str:
    """The target with the tags: without them it is what it was."""
    parts, last = list[str](), 0
    for _, place, code in _in_order(placed):
        parts += [*target.raw[last:place], code]
        last = place
    return "".join([*parts, *target.raw[last:]])


def _in_order(placed: Sequence[Placed]) -> Iterator[tuple[Placed, int, str]]:
    """What is written, with its tag and place: openings and closings, from first to last."""
    within = defaultdict[Placed | None, list[Placed]](list)
    for one in sorted(placed, key=lambda one: (one.start, one.end)):
        within[one.parent].append(one)
    open_: list[tuple[Placed | None, Iterator[Placed]]] = [(None, iter(within[None]))]
    while open_:
        around, rest = open_[-1]
        for one in rest:
            yield one, one.start, one.tag.opening
            open_.append((one, iter(within[one])))
            break
        else:
            open_.pop()
            if around is not None:
                yield around, around.end, around.tag.closing


class _Carrier:
    """linked: of each source token its target tokens.  total: the probabilities of all links of each target token.

    own, runs: source and target tokens of tags; None is the whole text.  taken, inner: target tokens of all tags in a
    tag, and cuts within one of them.  passed, before: source tokens before the last code, and their links.
    """

    def __init__(self, source: Marked, target: Marked, links: Mapping[Link, float]) -> None:
        self.source, self.target = source, target
        self.linked, self.total = defaultdict[int, dict[int, float]](dict), [0.0] * len(target.tokens)
        for (j, k), probability in sorted(links.items()):
            self.linked[j][k] = probability
            self.total[k] += probability
        self.own: dict[Tag | None, Run] = {None: (0, len(source.tokens))}
        self.runs: dict[Tag | None, Run] = {None: (0, len(target.tokens))}
        self.taken, self.inner = defaultdict[Tag | None, set[int]](set), defaultdict[Tag | None, set[int]](set)
        self.placed = dict[Tag | None, Placed]()
        self.passed, self.before = 0, Counter[int]()

    def carry(self) -> list[Placed]:
        there = Counter(tag.key for tag in self.target.tags)
        tags = [tag for tag in self.source.tags if not _take(there, tag.key)]
        missing = [*self._missing_placeholders()]
        tags = sorted([*tags, *missing], key=lambda tag: tag.start)
        starts = [start for start, _ in self.source.tokens]
        absent = {bisect_left(starts, tag.start) for tag in missing}
        for tag in tags:
            s, e = self.own[tag] = bisect_left(starts, tag.start), bisect_left(starts, tag.end)
            if tag.is_pair and not absent.issuperset(range(s, e)):
                self._place_words(tag)
        for tag in tags:
            if tag not in self.placed:
                self._place_code(tag)
        found = [self.placed[tag] for tag in tags]
        ends = {one: number for number, (one, *_) in enumerate(_in_order(found))}
        for second in (one for one in found if one.tag.first in self.placed):
            first = self.placed[second.tag.first]
            if ends[second] < ends[first]:
                second.parent, second.start, second.end = first.parent, first.start, first.end
        return found

    def _missing_placeholders(self) -> Iterator[Tag]:
        there = Counter(self.target.name_of(one) for one in self.target.placeholders)
        for start, end in self.source.placeholders:
            name = self.source.name_of((start, end))
            if not _take(there, name):
                around = [tag for tag in self.source.tags if tag.is_pair and tag.start <= start < tag.end]
                raw = "".join(self.source.raw[start:end])
                yield Tag("placeholder", name, raw, start, end, parent=around[-1] if around else None)

    def _place_words(self, tag: Tag) -> None:
        """Place a tag around target words, unless there are none for it."""
        (s, e), (first, end) = self.own[tag], self.own[tag.parent]
        (lo, hi), taken, parent = self.runs.get(tag.parent, (0, 0)), self.taken[tag.parent], self.placed.get(tag.parent)
        if len(taken) == hi - lo:
            return
        inside = Counter[int]()
        for j in range(s, e):
            inside.update(self.linked[j])
        run, sure = self._best_run(inside, lo, hi, taken), False
        if (s, e) == (first, end) and not taken:
            run, sure = (lo, hi), parent is None or parent.sure
        elif run is None:
            run = _relative((s - first) / (end - first), (e - first) / (end - first), lo, hi, taken)
        else:
            sure = self._is_sure(s, e, run, inside)
            free = [k not in taken and not self.total[k] for k in range(lo, hi)]
            a, b = run
            run = (lo if s == first and all(free[: a - lo]) else a), (hi if e == end and all(free[b - lo :]) else b)
        taken.update(range(*run))
        self.inner[tag.parent].update(range(run[0] + 1, run[1]))
        self.runs[tag] = run
        ends = self.target.tokens[run[0]][0], self.target.tokens[run[1] - 1][1]
        self.placed[tag] = Placed(tag, *ends, parent, sure)

    def _best_run(self, inside: Mapping[int, float], lo: int, hi: int, taken: set[int]) -> Run | None:
        """The free run whose links to the words inside outweigh others most, of equals the first  [Kadane].

        None where no word is linked to one inside more than to others.
        """
        best, found, total, start = 0.0, None, 0.0, lo
        for k in range(lo, hi):
            mine = inside.get(k, 0.0)
            weight = mine - _OUTSIDE * (self.total[k] - mine) if self.total[k] else _UNLINKED
            total += _TAKEN if k in taken else weight
            if total > best + 1e-9:  # sums of the same in another order are equal
                best, found = total, (start, k + 1)
            if total <= 0:
                total, start = 0.0, k + 1
        return found

    def _is_sure(self, s: int, e: int, run: Run, inside: Mapping[int, float]) -> bool:
        a, b = run
        unlinked = sum(not self.total[k] for k in range(a, b))
        return (
            all(self.linked[j] for j in range(s, e))
            and (min(inside), max(inside) + 1) == run
            and min(inside[a], inside[b - 1]) > _SURE
            and unlinked < e - s
        )

    def _place_code(self, tag: Tag) -> None:
        """Place a code, or a tag without words, where fewest links cross it, of equal places the last."""
        (s, e), (first, end) = self.own[tag], self.own[tag.parent]
        (lo, hi), parent = self.runs[tag.parent], self.placed.get(tag.parent)
        cut = hi if s == end else lo
        if first < s < end:
            for j in range(self.passed, s):
                self.before.update(self.linked[j])
            self.passed, before, within = s, self.before, Counter[int]()  # within a placeholder
            for j in range(s, e):
                within.update(self.linked[j])
            # A cut after k is crossed by links of words before the code to words after k, and the reverse.
            change = (total - 2 * before[k] - within[k] for k, total in enumerate(self.total))
            costs = [*accumulate(change, initial=0.0)]
            cuts = (cut for cut in range(hi, lo - 1, -1) if cut not in self.inner[tag.parent])
            cut = min(cuts, key=lambda cut: round(costs[cut], 9))
        place = self._place_of(cut, tag)
        if parent is not None:
            place = min(max(place, parent.start), parent.end)
        self.runs[tag] = cut, cut
        at_edge = parent is None and s in (first, end) and lo < hi and tag.name != "placeholder"
        self.placed[tag] = Placed(tag, place, place, parent, at_edge and not tag.first)

    def _place_of(self, cut: int, tag: Tag) -> int:
        """The character at which a code stands: at the word that it stands at in the source, too.

        Between two spaces it is in their middle: there it was.
        """
        text, tokens = self.source.text, self.target.tokens
        left = tokens[cut - 1][1] if cut else 0
        right = tokens[cut][0] if cut < len(tokens) else len(self.target.text)
        if right - left > 1 and 0 < cut < len(tokens):
            return left + 1
        at_word = tag.start and not text[tag.start - 1].isspace() and text[tag.end : tag.end + 1].isspace()
        return left if tag.start == 0 or at_word else right


def _take(there: Counter[str], key: str) -> bool:
    """Whether there is one, which is not there for another."""
    there[key] -= 1
    return there[key] >= 0


def _relative(start: float, end: float, lo: int, hi: int, taken: Iterable[int]) -> Run:
    """The run at the same share of the way, as far as it is free; of taken places the nearest free one."""
    a = min(lo + round(start * (hi - lo)), hi - 1)
    a = min((k for k in range(lo, hi) if k not in taken), key=lambda k: abs(k - a))
    b = next((k for k in range(a, hi) if k in taken), hi)
    return a, min(b, max(a + 1, lo + round(end * (hi - lo))))

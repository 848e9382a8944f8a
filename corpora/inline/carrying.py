"""Carry inline markup of a text across links to its translation."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from corpora.inline.examples import Examples, lower
from corpora.inline.kinds import Marked, Tag
from corpora.links import Link

_OUTSIDE = 0.7
"""What a link to a word outside of a span takes from it, as a share of what one to a word inside gives."""

_UNLINKED = -0.01
"""What an unlinked word gives: at the edges of a span it stays outside, between linked words it is in."""

_TAKEN = -1e9

_SURE = 0.85
"""Least probability of the links at both edges of a sure span: of these 95 % are right."""

_UNSURE = 0.5
"""The part of its confidence that a tag keeps that is not sure, so that it is below `_SURE`."""

Run = tuple[int, int]  # tokens, from the first to the end

Places = Mapping[int, tuple[int, int]]
"""Where tags stand, by their numbers in the order of the source, from 0: characters of the target, see `Placed`."""


@dataclass(eq=False)
class Placed:
    """A tag of the source in the target text.

    start, end: characters, equal for what has no words there.  parent: what it is in.  confidence: from 0 to 1.
    """

    tag: Tag
    start: int
    end: int
    parent: "Placed | None"
    confidence: float = 0.0

    @property
    def sure(self) -> bool:
        """Whether all its words are linked, to words that stand together; codes at the edges of the text alone."""
        return self.confidence > _SURE


def carry(
    source: Marked,
    target: Marked,
    links: Mapping[Link, float],
    corrected: Places | None = None,
    examples: Examples | None = None,
) -> list[Placed]:
    """Place the tags of a source text in its translation, in the order of the source, each once.

    links: of the tokens, with probabilities.  corrected: tags that are placed already, to which others give way.
    examples: what words of tags are elsewhere.
    Codes and placeholders that the target has are left out; placeholders that it lacks are placed, too. A target that
    has tags around words gets none.  Raises ValueError where corrected tags cross, cannot stand there, or are no tags.
    """
    has_none = not (source.tags or source.placeholders) or any(tag.is_pair for tag in target.tags)
    if has_none and corrected:
        raise ValueError("it gets no tags")
    return [] if has_none else _Carrier(source, target, links, examples or {}).carry(corrected or {})


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
    tag, and cuts within one of them.  corrected: characters of the target.  needed: target tokens of corrected tags
    around words, and those that the tags around these must have.  passed, before: source tokens before the last code,
    and their links.
    """

    def __init__(self, source: Marked, target: Marked, links: Mapping[Link, float], examples: Examples) -> None:
        self.source, self.target, self.examples = source, target, examples
        self.linked, self.total = defaultdict[int, dict[int, float]](dict), [0.0] * len(target.tokens)
        for (j, k), probability in sorted(links.items()):
            self.linked[j][k] = probability
            self.total[k] += probability
        self.own: dict[Tag | None, Run] = {None: (0, len(source.tokens))}
        self.runs: dict[Tag | None, Run] = {None: (0, len(target.tokens))}
        self.taken, self.inner = defaultdict[Tag | None, set[int]](set), defaultdict[Tag | None, set[int]](set)
        self.placed = dict[Tag | None, Placed]()
        self.corrected, self.needed = dict[Tag, tuple[int, int]](), dict[Tag, Run]()
        self.passed, self.before = 0, Counter[int]()

    def carry(self, corrected: Places) -> list[Placed]:
        there = Counter(tag.key for tag in self.target.tags)
        tags = [tag for tag in self.source.tags if not _take(there, tag.key)]
        missing = [*self._missing_placeholders()]
        tags = sorted([*tags, *missing], key=lambda tag: tag.start)
        starts = [start for start, _ in self.source.tokens]
        absent = {bisect_left(starts, tag.start) for tag in missing}
        self._correct(tags, corrected)
        for tag in tags:
            s, e = self.own[tag] = bisect_left(starts, tag.start), bisect_left(starts, tag.end)
            at_place = tag in self.corrected and tag not in self.needed
            if tag in self.needed or (tag.is_pair and not at_place and not absent.issuperset(range(s, e))):
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

    def _correct(self, tags: Sequence[Tag], corrected: Places) -> None:
        """Take over corrected places.  Raises ValueError where they are of no tag, or cross."""
        starts, ends = ([one[side] for one in self.target.tokens] for side in (0, 1))
        for number, (start, end) in sorted(corrected.items()):
            if not (0 <= number < len(tags) and 0 <= start <= end <= len(self.target.text)):
                raise ValueError(f"there is no tag {number} with a place from {start} to {end}")
            tag = tags[number]
            self.corrected[tag] = start, end
            run = bisect_right(ends, start), bisect_left(starts, end)
            if tag.is_pair and run[0] < run[1]:
                self.needed[tag] = run
        for tag in [*self.needed]:
            run, around = self.needed[tag], tag.parent
            while around is not None:
                a, b = self.needed.get(around, run)
                wider = min(a, run[0]), max(b, run[1])
                if around in self.corrected and (around not in self.needed or wider != (a, b)):
                    raise ValueError(f"{tag.opening} is in {around.opening}, but not its words")
                self.needed[around] = wider
                around = around.parent
        for tag, run in self.needed.items():
            if not self.taken[tag.parent].isdisjoint(range(*run)):
                raise ValueError(f"{tag.opening} has a word of another tag beside it")
            self.taken[tag.parent].update(range(*run))

    def _place_words(self, tag: Tag) -> None:
        """Place a tag around target words, unless there are none for it."""
        (s, e), (first, end) = self.own[tag], self.own[tag.parent]
        (lo, hi), parent = self.runs.get(tag.parent, (0, 0)), self.placed.get(tag.parent)
        needed = self.needed.get(tag)
        taken = self.taken[tag.parent] if needed is None else self.taken[tag.parent].difference(range(*needed))
        if len(taken) == hi - lo:
            return
        inside = Counter[int]()
        for j in range(s, e):
            inside.update(self.linked[j])
        window = _free_around(needed, lo, hi, taken)
        run, confidence = self._best_run(inside, *window, taken), 0.0
        run = self._run_of_examples((s, e), run, inside, *window, taken)
        if needed is not None and tag in self.corrected:
            run, confidence = needed, 1.0
        elif (s, e) == (first, end) and not taken:
            run, confidence = (lo, hi), parent.confidence if parent else 1.0
        elif run is None:
            run = needed or _relative((s - first) / (end - first), (e - first) / (end - first), lo, hi, taken)
        else:
            a, b = needed or run
            run = min(run[0], a), max(run[1], b)
            confidence = self._confidence(s, e, run, inside)
            free = [k not in taken and not self.total[k] for k in range(lo, hi)]
            a, b = run
            run = (lo if s == first and all(free[: a - lo]) else a), (hi if e == end and all(free[b - lo :]) else b)
        self.taken[tag.parent].update(range(*run))
        self.inner[tag.parent].update(range(run[0] + 1, run[1]))
        self.runs[tag] = run
        ends = self.target.tokens[run[0]][0], self.target.tokens[run[1] - 1][1]
        self.placed[tag] = Placed(tag, *ends, parent, confidence)

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

    def _run_of_examples(
        self, own: Run, linked: Run | None, inside: Mapping[int, float], lo: int, hi: int, taken: set[int]
    ) -> Run | None:
        """The free run of the words of an example, if links say so, too, or say nothing; else the linked one."""
        examples = self.examples and self.examples.get(lower(self.source)[slice(*own)])
        if not examples:
            return linked
        found, words = list[tuple[bool, float, int, int, int]](), lower(self.target)
        for known, count in examples.items():
            n = len(known)
            for a in (a for a in range(lo, hi - n + 1) if words[a : a + n] == known):
                weight = sum(inside.get(k, 0.0) for k in range(a, a + n))
                meets = linked is not None and a < linked[1] and linked[0] < a + n
                if taken.isdisjoint(range(a, a + n)) and (meets or weight or linked is None):
                    found.append((meets, weight, count, n, -a))
        if not found:
            return linked
        *_, n, place = max(found)
        return -place, n - place

    def _confidence(self, s: int, e: int, run: Run, inside: Mapping[int, float]) -> float:
        a, b = run
        linked = sum(bool(self.linked[j]) for j in range(s, e))
        hull = (min(inside), max(inside) + 1) if inside else run
        unlinked = sum(not self.total[k] for k in range(a, b))
        at_edges = min(1.0, inside.get(a, 0.0), inside.get(b - 1, 0.0))
        if linked == e - s and hull == run and unlinked < e - s:
            return at_edges
        return _UNSURE * at_edges * linked / (e - s) * (b - a) / max(b - a, hull[1] - hull[0])

    def _place_code(self, tag: Tag) -> None:
        """Place a code, or a tag without words, where fewest links cross it, of equal places the last."""
        (s, e), (first, end) = self.own[tag], self.own[tag.parent]
        (lo, hi), parent = self.runs[tag.parent], self.placed.get(tag.parent)
        cut, cost, corrected = hi if s == end else lo, 0.0, self.corrected.get(tag)
        cuts = (cut for cut in range(hi, lo - 1, -1) if cut not in self.inner[tag.parent])
        if corrected is not None:
            wanted = bisect_left([start for start, _ in self.target.tokens], corrected[0])
            cut = min(cuts, key=lambda cut: abs(cut - wanted))
        elif first < s < end:
            for j in range(self.passed, s):
                self.before.update(self.linked[j])
            self.passed, before, within = s, self.before, Counter[int]()  # within a placeholder
            for j in range(s, e):
                within.update(self.linked[j])
            # A cut after k is crossed by links of words before the code to words after k, and the reverse.
            change = (total - 2 * before[k] - within[k] for k, total in enumerate(self.total))
            costs = [*accumulate(change, initial=0.0)]
            cut = min(cuts, key=lambda cut: round(costs[cut], 9))
            cost = max(0.0, costs[cut] + sum(self.before.values()))
        place = self._place_of(cut, tag)
        if parent is not None:
            place = min(max(place, parent.start), parent.end)
        if corrected is not None and place != corrected[0] and tag.first is None:
            raise ValueError(f"{tag.opening} cannot stand at {corrected[0]}, within another tag or outside its own")
        self.runs[tag] = cut, cut
        at_edge = parent is None and s in (first, end) and lo < hi and tag.name != "placeholder" and not tag.first
        sure = corrected is not None or at_edge
        self.placed[tag] = Placed(tag, place, place, parent, 1.0 if sure else _UNSURE / (1 + cost))

    def _place_of(self, cut: int, tag: Tag) -> int:
        """The character at which a code stands: as corrected, or at the word that it stands at in the source, too.

        Between two spaces it is in their middle: there it was.
        """
        text, tokens = self.source.text, self.target.tokens
        left = tokens[cut - 1][1] if cut else 0
        right = tokens[cut][0] if cut < len(tokens) else len(self.target.text)
        if tag in self.corrected:
            return min(max(left, self.corrected[tag][0]), right)
        if right - left > 1 and 0 < cut < len(tokens):
            return left + 1
        at_word = tag.start and not text[tag.start - 1].isspace() and text[tag.end : tag.end + 1].isspace()
        return left if tag.start == 0 or at_word else right


def _take(there: Counter[str], key: str) -> bool:
    """Whether there is one, which is not there for another."""
    there[key] -= 1
    return there[key] >= 0


def _free_around(needed: Run | None, lo: int, hi: int, taken: Iterable[int]) -> Run:
    """The tokens without a taken one between them and the needed ones; all without such."""
    if needed is None:
        return lo, hi
    a, b = needed
    return max([lo, *(k + 1 for k in taken if k < a)]), min([hi, *(k for k in taken if k >= b)])


def _relative(start: float, end: float, lo: int, hi: int, taken: Iterable[int]) -> Run:
    """The run at the same share of the way, as far as it is free; of taken places the nearest free one."""
    a = min(lo + round(start * (hi - lo)), hi - 1)
    a = min((k for k in range(lo, hi) if k not in taken), key=lambda k: abs(k - a))
    b = next((k for k in range(a, hi) if k in taken), hi)
    return a, min(b, max(a + 1, lo + round(end * (hi - lo))))

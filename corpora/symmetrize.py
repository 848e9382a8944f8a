"""One link set from the links of two directions.

Och and Ney 2003; the heuristics as in Koehn, Och and Marcu 2003 and the pseudo-code of the Moses manual, or as in
fast_align's atools.
"""

import heapq
from collections.abc import Set

from corpora.links import Link

ALIASES = {"intersect": "intersection", "gd": "grow-diag", "gdf": "grow-diag-final", "gdfa": "grow-diag-final-and"}
DIRECTIONS = ("forward", "reverse")
METHODS = (*DIRECTIONS, "intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and", *ALIASES)

# The order matters: a point that is added can stop a later one. This is the order of the pseudo-code.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrize(forward: Set[Link], reverse: Set[Link], method: str, *, as_atools: bool = False) -> set[Link]:
    """Combine the links of one sentence pair found in two directions.

    forward, reverse: (source, target) positions, both in this order.  method: one of METHODS.
    grow-diag starts at the intersection and adds, from each point in source-major order, the
    neighbours (8 cells) in the union whose source or target word has no link yet, until none is left;
    final then adds the points of forward, then of reverse, whose source *or* target word has no link
    yet; final-and those whose source *and* target words have none.
    as_atools: grow-diag as in fast_align's atools, which goes through the points of the union, in the same order, and
    adds those with a linked neighbour.

    Raises ValueError on an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}', known are {', '.join(METHODS)}")
    method = ALIASES.get(method, method)
    if method in DIRECTIONS:
        return set(forward if method == "forward" else reverse)
    if method == "union":
        return set(forward | reverse)
    links = set(forward & reverse)
    if method == "intersection":
        return links
    sources = {source for source, _ in links}
    targets = {target for _, target in links}
    _grow(links, sources, targets, set(forward ^ reverse), as_atools)
    enough = all if method.endswith("-and") else any
    for direction in (forward, reverse) if method != "grow-diag" else ():
        for link in sorted(direction - links):
            if enough((link[0] not in sources, link[1] not in targets)):
                links.add(link)
                sources.add(link[0])
                targets.add(link[1])
    return links


def _grow(links: set[Link], sources: set[int], targets: set[int], candidates: set[Link], by_candidate: bool) -> None:
    # Words never lose their links, so a candidate refused once is refused for ever: each link is visited once, or each
    # candidate once for each neighbour, in the round of scans over the matrix in which the rule first meets it.
    scan = [new for link in links for new in _near(link) if new in candidates] if by_candidate else [*links]
    while scan and candidates:
        missed: list[Link] = []
        heapq.heapify(scan)
        while scan:
            point = heapq.heappop(scan)
            for new in [point] if by_candidate else _near(point):
                if new in candidates and (new[0] not in sources or new[1] not in targets):
                    candidates.discard(new)
                    links.add(new)
                    sources.add(new[0])
                    targets.add(new[1])
                    for next_ in candidates.intersection(_near(new)) if by_candidate else [new]:
                        if next_ > point:
                            heapq.heappush(scan, next_)
                        else:
                            missed.append(next_)
        scan = missed


def _near(point: Link) -> list[Link]:
    return [(point[0] + down, point[1] + right) for down, right in _NEIGHBOURS]

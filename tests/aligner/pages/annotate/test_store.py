"""Laws of journals and stores: no change that was kept is lost, an undo takes back one, windows do not clash."""

from __future__ import annotations

import errno
import json
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from aligner.evaluation.comparison import evaluate
from aligner.pages.annotate.agreement import agreement, kappa, merged
from aligner.pages.annotate.annotation import Annotation, AnnotationError, SourceText
from aligner.pages.annotate.store import ConflictError, Store
from corpora.errors import CorpusError
from corpora.journal import read_journal
from corpora.links import Links
from corpora.readers import open_corpus

SENTENCES = (("a b c", "x y z"), ("d", "w"), ("a b", "x y"), ("e f g h", "p q r"))


def text(*sentences: tuple[str, str]) -> SourceText:
    return SourceText("t.en", ("en", "fr"), ("t.en", "t.fr"), sentences or SENTENCES)


def some_annotation(rng: random.Random, pair: int) -> Annotation:
    J, K = text().lengths(pair)
    cells = [(j, k) for j in range(J) for k in range(K)]
    kinds = [rng.choice(["sure", "possible", "suggested", "none"]) for _ in cells]
    sure, possible, suggested = (
        [cell for cell, kind in zip(cells, kinds, strict=True) if kind == name]
        for name in ("sure", "possible", "suggested")
    )
    work = {"sure": sure, "possible": possible, "suggested": suggested, "null": [[rng.randrange(J)], []]}
    status = rng.choice(["open", "accepted", "accepted", "skipped"])
    given = {**work, "status": status, "flagged": rng.random() < 0.3, "comment": rng.choice(["", "é\n\u2028?"])}
    return Annotation.from_json(given, (J, K))


def work_at_random(store: Store, rng: random.Random, steps: int) -> list[tuple[dict[int, Annotation], dict[int, int]]]:
    """Change and undo; the works and revisions before and after each step."""
    states = [({}, {})]
    for _ in range(steps):
        if rng.random() < 0.3:
            pairs = store.undo()
            if not pairs:
                continue
        else:
            pairs = rng.sample(range(len(SENTENCES)), rng.randint(1, 3))
            store.change({pair: (store.revisions.get(pair, 0), some_annotation(rng, pair)) for pair in pairs})
        states.append(({**store.works}, {**store.revisions}))
    return states


def assert_gold_is(folder: Path, store: Store) -> None:
    """The files hold the accepted pairs, whose texts and links belong together."""
    corpus = open_corpus(folder / "gold", source="en", target="fr")
    accepted = store.accepted()
    found = [(a.decode(), b.decode()) for _, a, b in corpus.texts()] if accepted else []
    assert found == [SENTENCES[pair] for pair in accepted]
    if accepted:
        assert [*corpus.links()] == [work.links for work in accepted.values()]
    else:
        assert (folder / "gold.wa").read_bytes() == b""


def store_of(folder: Path, *sentences: tuple[str, str]) -> Store:
    return Store(str(folder / "gold"), text(*sentences))


ACCEPTED = Annotation(sure=frozenset({(0, 0)}), status="accepted")


@pytest.mark.parametrize("seed", range(2))
def test_a_journal_cut_anywhere_holds_all_that_was_whole(seed: int, tmp_path: Path) -> None:
    store = store_of(tmp_path)
    states = work_at_random(store, random.Random(seed), 8)
    store.close()
    whole = (tmp_path / "gold.journal").read_bytes()
    ends = [n + 1 for n, byte in enumerate(whole) if byte == 10]
    assert len(ends) == len(states)
    rng = random.Random(seed)
    for cut in {*ends, *(end - 1 for end in ends[1:]), *(rng.randrange(ends[0], len(whole)) for _ in range(6))}:
        (tmp_path / "gold.journal").write_bytes(whole[:cut])
        for suffix in ("en", "fr", "wa"):  # a journal is never behind its files
            (tmp_path / f"gold.{suffix}").unlink()
        again = store_of(tmp_path)
        works, revisions = states[sum(end <= cut for end in ends) - 1]
        assert (again.works, again.revisions) == (works, revisions)
        assert_gold_is(tmp_path, again)
        again.change({1: (again.revisions.get(1, 0), ACCEPTED)})
        again.close()
        assert len(read_journal(tmp_path / "gold.journal")) == sum(end <= cut for end in ends) + 1


def test_undo_takes_back_one_change_after_the_other_and_survives(tmp_path: Path) -> None:
    """And others read what is accepted meanwhile."""
    rng, store = random.Random(1), store_of(tmp_path)
    before = []
    for _ in range(6):
        before.append({**store.works})
        pairs = rng.sample(range(4), 2)
        store.change({pair: (store.revisions.get(pair, 0), some_annotation(rng, pair)) for pair in pairs})
    for works in reversed(before):
        store.close()
        store = store_of(tmp_path)
        assert len(store.undo()) == 2
        assert store.works == works
        assert_gold_is(tmp_path, store)
        assert Store(str(tmp_path / "gold"), text(), writes=False).accepted() == store.accepted()
    assert store.undo() == []
    store.close()


@contextmanager
def full_disk(after: int = 0) -> Iterator[None]:
    """Within this block so many files come to the disk, and no more."""
    calls = count()

    def full(descriptor: int) -> None:
        if next(calls) >= after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", full)
        yield


def test_what_is_refused_or_not_on_disk_is_not_kept(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.change({0: (0, ACCEPTED)})
    content = (tmp_path / "gold.journal").read_bytes()
    with pytest.raises(ConflictError):
        store.change({1: (0, ACCEPTED), 0: (0, Annotation())})  # of an old revision
    with full_disk(), pytest.raises(OSError, match="No space"):
        store.change({1: (0, ACCEPTED)})
    assert [*store.works] == [0]
    assert (tmp_path / "gold.journal").read_bytes() == content
    store.undo()
    with pytest.raises(ConflictError):
        store.change({0: (1, Annotation())})  # an undo is a change, too
    store.change({1: (0, ACCEPTED)})
    store.close()
    store = store_of(tmp_path)
    store.close()
    assert [*store.works] == [1]


def test_files_are_never_two_changes_behind(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    store.change({3: (0, ACCEPTED)})
    for pair in range(3):
        with full_disk(after=1), pytest.raises(OSError, match="No space"):  # after the entry of the journal
            store.change({pair: (0, ACCEPTED)})
    store.close()
    store = store_of(tmp_path)
    assert [*store.works] == [3, 0]
    assert (tmp_path / "gold.en").read_text() == f"{SENTENCES[0][0]}\n{SENTENCES[3][0]}\n"
    store.close()


def test_files_that_are_not_from_here_are_kept(tmp_path: Path) -> None:
    for name in ("gold", "other"):
        (tmp_path / f".{name}.wa.aligner-1-ab.tmp").write_text("0-0")
    store = store_of(tmp_path)
    assert [file.name for file in tmp_path.glob(".*")] == [".other.wa.aligner-1-ab.tmp"], "what a kill leaves goes"
    with pytest.raises(CorpusError, match=r"gold.journal: is being written by another process"):
        store_of(tmp_path)
    store.close()
    (tmp_path / "other.journal").write_text('{"so": 1}\n')
    (tmp_path / "links.wa").write_text("0-0\n")
    for name, what in (
        ("links", r"links.wa: file exists, without a journal \(choose another"),
        ("other", r"other.journal:1: is not the head of a journal"),
    ):
        with pytest.raises(CorpusError, match=what):
            Store(str(tmp_path / name), text())
    assert not (tmp_path / "links.journal").exists()


@pytest.mark.parametrize(
    "line",
    [
        "{}", "nothing", "[1]", '{"time": 1, "undo": true}', '{"time": 1, "works": {"9": {}}}',
        '{"time":1,"works":{"0":{}}}', '{"time":1,"works":[]}', '{"time":1,"works":{"0":[]}}',
        json.dumps({"time": 1, "works": {"-1": Annotation().to_json()}}), '{"time":1,"works":{"x":{}}}',
    ],
)  # fmt: skip
def test_a_broken_line_is_named(line: str, tmp_path: Path) -> None:
    store_of(tmp_path).close()
    with (tmp_path / "gold.journal").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(CorpusError, match=r"gold.journal:2: .*\(take this line out\)"):
        store_of(tmp_path)


def test_half_a_surrogate_pair_in_an_old_journal_is_shown_as_a_question_mark(tmp_path: Path) -> None:
    store_of(tmp_path).close()
    with (tmp_path / "gold.journal").open("a") as file:
        file.write(json.dumps({"time": 1, "works": {"0": {**Annotation().to_json(), "comment": "a\ud83db"}}}) + "\n")
    store = store_of(tmp_path)
    store.close()
    assert store.works[0].comment == "a?b"


@pytest.mark.parametrize("suffix", ["en", "fr", "wa"])
def test_gold_that_was_changed_by_hand_is_not_written_over(suffix: str, tmp_path: Path) -> None:
    store = store_of(tmp_path)
    for pair in (0, 1):
        store.change({pair: (0, ACCEPTED)})
    store.close()
    file = tmp_path / f"gold.{suffix}"
    *_, last = before = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(before[:-1]))  # as if the process had been killed before it was written
    store_of(tmp_path).close()
    assert file.read_bytes().endswith(last)
    file.write_bytes(b"1-0\n" + last)
    message = f"{re.escape(str(file))}: has been changed elsewhere, and would be written over .move it away"
    with pytest.raises(CorpusError, match=message):
        store_of(tmp_path)
    assert file.read_bytes() == b"1-0\n" + last
    file.unlink()
    store_of(tmp_path).close()
    assert file.read_bytes() == b"".join(before)


@pytest.mark.parametrize(
    ("sentences", "what"),
    [
        (SENTENCES[:3], "t.en: has 3 lines, but .*gold.journal was begun with 4 "),
        ((*SENTENCES, ("i", "j")), "t.en: has 5 lines, but"),
        ((*SENTENCES[:3], ("e f g", "p q r")), "t.en: has changed since .*gold.journal was begun "),
        ((*SENTENCES[:2], SENTENCES[3], SENTENCES[2]), "t.en: has changed since"),
    ],
)
def test_another_text_is_refused(sentences: tuple[tuple[str, str], ...], what: str, tmp_path: Path) -> None:
    store_of(tmp_path).close()
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(CorpusError, match=what):
        store_of(tmp_path, *sentences)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


GIVEN = {
    "sure": [[0, 0]], "possible": [[1, 1]], "suggested": [[2, 2]], "null": [[], []],
    "status": "open", "flagged": False, "comment": "",
}  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"sure": [[3, 0]]}, {"sure": [[0, -1]]}, {"sure": [[0]]}, {"sure": 1}, {"null": [[3], []]}, {"null": [[]]},
        {"status": "x"}, {"possible": [["a", 0]]}, {"sure": ["00"]}, {"sure": [[True, 0]]}, {"sure": [[0.0, 0]]},
        {"null": [[0.5], []]},
        {"comment": "\ud83d"}, {"comment": 1},
    ],
)  # fmt: skip
def test_work_that_does_not_fit_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(AnnotationError):
        Annotation.from_json({**GIVEN, **changed}, (3, 3))


def test_work_is_read_as_it_is_written() -> None:
    work = Annotation.from_json(GIVEN, (3, 3))
    assert Annotation.from_json(json.loads(json.dumps(work.to_json())), (3, 3)) == work
    accepted = Annotation.from_json({**GIVEN, "status": "accepted"}, (3, 3))
    assert (accepted.sure, accepted.suggested) == ({(0, 0), (2, 2)}, frozenset())


def test_agreement_is_that_of_evaluate_both_ways() -> None:
    rng = random.Random(3)
    drawn = [{pair: some_annotation(rng, pair) for pair in range(4)} for _ in range(2)]
    works = [{p: Annotation(w.sure, w.possible, status="accepted") for p, w in each.items()} for each in drawn]
    del works[0][1]
    common = [0, 2, 3]
    result = agreement(works[0], works[1], text())
    links = [Links.from_pairs(each[pair].links for pair in common) for each in works]
    figures = [evaluate(links[0], links[1]), evaluate(links[1], links[0])]
    assert result.pairs == 3
    assert result.aer == tuple(figure.aer for figure in figures)
    assert result.f1 == tuple(figure.f1 for figure in figures)
    assert result.aer[0] != result.aer[1]
    assert result.different == tuple(pair for pair in common if works[0][pair].links != works[1][pair].links)
    shapes = {p: text().lengths(p) for p in common}
    kinds = [
        [2 * ((j, k) in w[p].sure) or int((j, k) in w[p].possible) for p in common for j, k in np.ndindex(*shapes[p])]
        for w in works
    ]
    assert result.kappa == pytest.approx(cohen_kappa_score(*kinds))
    assert agreement(works[0], works[0], text()).kappa == 1.0
    assert agreement({}, works[0], text()) == agreement({}, {}, text())
    assert [kappa(np.array(table)) for table in ([[25, 25], [25, 25]], [[0, 50], [50, 0]])] == [0.0, -1.0]


def test_where_annotators_differ_the_start_is_what_both_have() -> None:
    one = Annotation(sure=frozenset({(0, 0), (1, 1)}), possible=frozenset({(2, 2)}))
    other = Annotation(sure=frozenset({(0, 0), (2, 2)}), possible=frozenset({(1, 2)}))
    assert (
        merged(one, other) == merged(other, one) == Annotation(sure=frozenset({(0, 0)}), possible=frozenset({(2, 2)}))
    )


def test_the_pace_leaves_long_breaks_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000.0, 1050.0, 1100.0, 9000.0, 9080.0])
    monkeypatch.setattr("time.time", lambda: next(times))
    store = store_of(tmp_path)
    paces = []
    for pair in (0, 1, 2, 3, 3):
        store.change({pair: (store.revisions.get(pair, 0), Annotation(status="accepted"))})
        paces.append(store.pace())
    assert paces == [0, 0, 108, 144, 80]
    store.close()

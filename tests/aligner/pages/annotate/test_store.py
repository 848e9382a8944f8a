"""Laws of journals and stores: no change that was kept is lost, an undo takes back one, windows do not clash."""

from __future__ import annotations

import errno
import json
import os
import random
import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from aligner.evaluation.comparison import evaluate
from aligner.pages.annotate.agreement import agreement, kappa, merged
from aligner.pages.annotate.annotation import Annotation, AnnotationError, SourceText
from aligner.pages.annotate.store import ConflictError, Store
from corpora.errors import CorpusError
from corpora.journal import Journal, read_journal
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


@pytest.mark.parametrize("seed", range(2))
def test_a_journal_cut_anywhere_holds_all_that_was_whole(seed: int, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "gold"), text())
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
        again = Store(str(tmp_path / "gold"), text())
        works, revisions = states[sum(end <= cut for end in ends) - 1]
        assert (again.works, again.revisions) == (works, revisions)
        assert_gold_is(tmp_path, again)
        again.change({1: (again.revisions.get(1, 0), Annotation(sure=frozenset({(0, 0)}), status="accepted"))})
        again.close()
        assert len(read_journal(tmp_path / "gold.journal")) == sum(end <= cut for end in ends) + 1


def test_undo_takes_back_one_change_after_the_other_and_survives(tmp_path: Path) -> None:
    rng, store = random.Random(1), Store(str(tmp_path / "gold"), text())
    before = []
    for _ in range(6):
        before.append({**store.works})
        pairs = rng.sample(range(4), 2)
        store.change({pair: (store.revisions.get(pair, 0), some_annotation(rng, pair)) for pair in pairs})
    for works in reversed(before):
        store.close()
        store = Store(str(tmp_path / "gold"), text())
        assert len(store.undo()) == 2
        assert store.works == works
        assert_gold_is(tmp_path, store)
    assert store.undo() == []
    assert Store(str(tmp_path / "gold"), text(), writes=False).accepted() == {}
    store.close()


@pytest.mark.parametrize("suffix", ["en", "fr", "wa"])
def test_gold_that_was_changed_by_hand_is_not_written_over(suffix: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "gold"), text())
    for pair in (0, 1):
        store.change({pair: (0, Annotation(sure=frozenset({(0, 0)}), status="accepted"))})
    store.close()
    file = tmp_path / f"gold.{suffix}"
    *_, last = before = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(before[:-1]))  # as if the process had been killed before it was written
    Store(str(tmp_path / "gold"), text()).close()
    assert file.read_bytes().endswith(last)
    file.write_bytes(b"1-0\n" + last)
    message = f"{re.escape(str(file))}: has been changed elsewhere, and would be written over .move it away"
    with pytest.raises(CorpusError, match=message):
        Store(str(tmp_path / "gold"), text())
    assert file.read_bytes() == b"1-0\n" + last
    file.unlink()
    Store(str(tmp_path / "gold"), text()).close()
    assert file.read_bytes() == b"".join(before)


def test_others_read_what_is_accepted(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "gold"), text())
    rng = random.Random(7)
    for _ in range(5):
        work_at_random(store, rng, 5)
        assert Store(str(tmp_path / "gold"), text(), writes=False).accepted() == store.accepted()
    assert store.accepted()
    store.close()


def test_a_change_of_an_old_revision_is_a_conflict_and_keeps_nothing(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "gold"), text())
    store.change({0: (0, Annotation(status="accepted"))})
    content = (tmp_path / "gold.journal").read_bytes()
    with pytest.raises(ConflictError):
        store.change({1: (0, Annotation(status="accepted")), 0: (0, Annotation())})
    assert [*store.works] == [0]
    assert (tmp_path / "gold.journal").read_bytes() == content
    store.undo()
    with pytest.raises(ConflictError):
        store.change({0: (1, Annotation())})  # an undo is a change, too
    store.close()


def test_a_full_disk_loses_nothing_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path / "gold"), text())
    store.change({0: (0, Annotation(status="accepted"))})
    content = (tmp_path / "gold.journal").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            store.change({1: (0, Annotation(status="accepted"))})
    assert (tmp_path / "gold.journal").read_bytes() == content
    assert [*store.works] == [0]
    store.change({1: (0, Annotation(status="accepted"))})
    store.close()
    store = Store(str(tmp_path / "gold"), text())
    assert [*store.works] == [0, 1]
    store.close()


def test_files_are_never_two_changes_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path / "gold"), text())
    store.change({3: (0, Annotation(status="accepted"))})

    def full(descriptor: int) -> None:
        if next(calls) > 0:  # after the entry of the journal
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for pair in range(3):
        calls = count()
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", full)
            with pytest.raises(OSError, match="No space"):
                store.change({pair: (0, Annotation(status="accepted"))})
    store.close()
    store = Store(str(tmp_path / "gold"), text())
    assert [*store.works] == [3, 0]
    assert (tmp_path / "gold.en").read_text() == f"{SENTENCES[0][0]}\n{SENTENCES[3][0]}\n"
    store.close()


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
    Store(str(tmp_path / "gold"), text()).close()
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(CorpusError, match=what):
        Store(str(tmp_path / "gold"), text(*sentences))
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_files_that_are_not_from_here_are_kept(tmp_path: Path) -> None:
    (tmp_path / "gold.wa").write_text("0-0\n")
    with pytest.raises(CorpusError, match=r"gold.wa: file exists, without a journal \(choose another"):
        Store(str(tmp_path / "gold"), text())
    assert [file.name for file in tmp_path.iterdir()] == ["gold.wa"]
    (tmp_path / "other.journal").write_text('{"so": 1}\n')
    with pytest.raises(CorpusError, match=r"other.journal:1: is not the head of a journal"):
        Store(str(tmp_path / "other"), text())


@pytest.mark.parametrize(
    "line",
    [
        "{}", "nothing", "[1]", '{"time": 1, "undo": true}', '{"time": 1, "works": {"9": {}}}',
        '{"time":1,"works":{"0":{}}}', '{"time":1,"works":[]}',
        json.dumps({"time": 1, "works": {"-1": Annotation().to_json()}}), '{"time":1,"works":{"x":{}}}',
        '{"time":1,"works":{"0":[]}}',
    ],
)  # fmt: skip
def test_a_broken_line_is_named(line: str, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "gold"), text())
    store.close()
    with (tmp_path / "gold.journal").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(CorpusError, match=r"gold.journal:2: .*\(take this line out\)"):
        Store(str(tmp_path / "gold"), text())


def test_half_a_surrogate_pair_in_an_old_journal_is_shown_as_a_question_mark(tmp_path: Path) -> None:
    Store(str(tmp_path / "gold"), text()).close()
    with (tmp_path / "gold.journal").open("a") as file:
        file.write(json.dumps({"time": 1, "works": {"0": {**Annotation().to_json(), "comment": "a\ud83db"}}}) + "\n")
    store = Store(str(tmp_path / "gold"), text())
    assert store.works[0].comment == "a?b"
    store.close()


def test_one_process_writes_a_journal(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "gold"), text())
    with pytest.raises(CorpusError, match=r"gold.journal: is being written by another process"):
        Store(str(tmp_path / "gold"), text())
    store.close()
    Store(str(tmp_path / "gold"), text()).close()


def test_what_a_killed_process_leaves_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".gold.wa.aligner-1-ab.tmp").write_text("0-0")
    (tmp_path / ".other.wa.aligner-1-ab.tmp").write_text("0-0")
    Store(str(tmp_path / "gold"), text()).close()
    assert [file.name for file in tmp_path.glob(".*")] == [".other.wa.aligner-1-ab.tmp"]


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
    rng, works = random.Random(3), []
    for _ in range(2):
        found = {pair: some_annotation(rng, pair) for pair in range(4)}
        works.append({p: Annotation(w.sure, w.possible, status="accepted") for p, w in found.items()})
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
    cells = [
        tuple(2 if (j, k) in w[p].sure else int((j, k) in w[p].possible) for w in works)
        for p in common
        for j in range(text().lengths(p)[0])
        for k in range(text().lengths(p)[1])
    ]
    from sklearn.metrics import cohen_kappa_score

    assert result.kappa == pytest.approx(cohen_kappa_score(*zip(*cells, strict=True)))
    assert agreement(works[0], works[0], text()).kappa == 1.0
    assert agreement({}, works[0], text()) == agreement({}, {}, text())


def test_kappa_of_chance_and_of_opposites() -> None:
    assert kappa(np.array([[25, 25], [25, 25]])) == 0.0
    assert kappa(np.array([[0, 50], [50, 0]])) == -1.0


def test_where_annotators_differ_the_start_is_what_both_have() -> None:
    one = Annotation(sure=frozenset({(0, 0), (1, 1)}), possible=frozenset({(2, 2)}))
    other = Annotation(sure=frozenset({(0, 0), (2, 2)}), possible=frozenset({(1, 2)}))
    assert (
        merged(one, other) == merged(other, one) == Annotation(sure=frozenset({(0, 0)}), possible=frozenset({(2, 2)}))
    )


def test_a_journal_needs_no_entries(tmp_path: Path) -> None:
    Journal(tmp_path / "a.journal", {"of": "this"}, "wait").close()
    Journal(tmp_path / "a.journal", {"of": "that"}, "wait").close()
    assert read_journal(tmp_path / "a.journal") == [{"of": "this"}]


def test_the_pace_leaves_long_breaks_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000.0, 1050.0, 1100.0, 9000.0, 9080.0])
    monkeypatch.setattr("time.time", lambda: next(times))
    store = Store(str(tmp_path / "gold"), text())
    paces = []
    for pair in (0, 1, 2, 3, 3):
        store.change({pair: (store.revisions.get(pair, 0), Annotation(status="accepted"))})
        paces.append(store.pace())
    assert paces == [0, 0, 108, 144, 80]
    store.close()

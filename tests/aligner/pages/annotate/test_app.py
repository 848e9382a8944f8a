"""What the page is answered: who may ask, what is refused, what a session says, and kills at any moment."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest
from annotating import Site, ask
from commands import TIMEOUT, invoke, read_until, refused, run, start, wait_for, write

from aligner.model.decoding import Alignment
from aligner.model.model import Model
from aligner.pages.annotate.session import Session, _Suggester
from corpora.formats.pharaoh import parse_links
from corpora.link_files import read_links
from corpora.readers import open_corpus

pytestmark = pytest.mark.slow

Sessions, Sites = Callable[..., Session], Callable[..., Site]

LINK = {"sure": [[0, 0]], "possible": [], "suggested": [], "null": [[], []]}
LINK |= {"status": "accepted", "flagged": False, "comment": ""}


def test_only_who_knows_the_token_is_answered(site: Sites) -> None:
    served = site()
    assert served.ask("")[0] == served.ask("training")[0] == 200
    base = f"http://127.0.0.1:{served.port}"
    for path in ("/", "/training", "/other/", "/tokens/", "/Token/training", "/toke/", "/token1/"):
        assert ask(f"{base}{path}")[0] == 404, path


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{}", "evil.example:{}", ""])
def test_other_names_of_this_machine_are_refused(host: str, site: Sites) -> None:
    served = site()
    assert served.ask("training", Host=host.format(served.port))[0] == 403
    assert served.ask("training", Host=f"localhost:{served.port}")[0] == 200


@pytest.mark.parametrize("origin", ["null", "https://127.0.0.1:{}", "http://evil.example", "http://localhost:{}", ""])
def test_other_origins_are_refused(origin: str, site: Sites) -> None:
    served = site()
    given = {"pair": 0, "revision": 0, "work": LINK}
    status, answer = served.ask("save", given, Origin=origin.format(served.port))
    assert (status, [*answer]) == (403, ["error"])
    assert served.session.store.works == {}
    assert served.ask("save", given, Origin=f"http://127.0.0.1:{served.port}")[0] == 200
    assert [*served.session.store.works] == [0]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc")
def test_it_listens_on_this_machine_alone(site: Sites) -> None:
    served = site()
    sockets = Path("/proc/net/tcp").read_text().splitlines()
    places = [line.split()[1] for line in sockets if line.split()[1].endswith(f":{served.port:04X}")]
    assert {place.partition(":")[0] for place in places} == {"0100007F"}


@pytest.mark.parametrize(
    ("name", "given", "status"),
    [
        ("save", {"pair": 0, "revision": 5, "work": LINK}, 409),
        ("save", {"pair": 0, "revision": 0, "work": {**LINK, "sure": [[99, 0]]}}, 422),
        ("save", {"pair": 10_000, "revision": 0, "work": LINK}, 422),
        ("save", {"pair": -1, "revision": 0, "work": LINK}, 422),
        ("save", {"pair": 0.9, "revision": 0, "work": LINK}, 422),
        ("save", {"pair": True, "revision": 0, "work": LINK}, 422),
        ("save", {"pair": float("inf"), "revision": 0, "work": LINK}, 400),
        ("save", {"pair": 0, "revision": 0, "work": {**LINK, "comment": "x" * (1 << 20)}}, 413),
        ("save", {"pair": 0, "with": "nobody", "revision": 0, "work": LINK}, 422),
        ("pair?pair=0&with=nobody", None, 422),
        ("save", {"pair": 0, "work": LINK}, 400),
        ("save", [1], 400),
        ("approve", {"source": "a", "target": "b", "kind": "x"}, 422),
        ("take-over", {"with": "nobody"}, 422),
        ("train", {}, 422),
        ("pair?pair=64", None, 422),
        ("pair?pair=x", None, 400),
        ("nothing", None, 404),
        ("save", None, 405),
        ("gold.doc", None, 404),
    ],
)
def test_requests_that_make_no_sense_change_nothing(name: str, given: object, status: int, site: Sites) -> None:
    served = site()
    found, answer = served.ask(name, given)
    assert found == status
    assert status in (404, 405) or answer["error"]
    assert served.session.store.works == {}
    assert not [*Path(served.session.prefix).parent.glob("*.adjudicated.*")]


def test_suggestions_of_an_old_model_do_not_outlive_it(session: Sessions, loaded: Model) -> None:
    class New:
        align = loaded.align

    class Old:
        def align_many(self, pairs: object) -> list[Alignment]:
            opened._suggester = _Suggester(New(), {})  # type: ignore[arg-type]  # a training ends meanwhile
            return [Alignment(((0, 0),), (1.0,)) for _ in pairs]  # type: ignore[attr-defined]

    opened = session()
    opened._suggester = _Suggester(Old(), {})  # type: ignore[arg-type]
    opened.words({})
    links = [*loaded.align(*opened.text.words(3))]
    assert [tuple(link) for link in opened.pair({"pair": 3})["work"]["suggested"]] == links


def test_a_pair_begins_with_the_links_of_the_model(session: Sessions, loaded: Model) -> None:
    opened = session()
    found = opened.pair({"pair": 3})
    words = opened.text.words(3)
    links = loaded.align(*words)
    assert (found["source"], found["target"]) == words
    assert [tuple(link) for link in found["work"]["suggested"]] == [*links]
    assert [tuple(score) for score in found["scores"]] == [
        (j, k, p) for (j, k), p in zip(links, links.scores, strict=True)
    ]


def test_without_a_model_it_begins_with_the_links_of_the_text_itself(texts: Path) -> None:
    import aligner
    from aligner.model.settings import AlignSettings
    from aligner.pages.annotate.annotation import read_text
    from aligner.pages.annotate.session import model_of_text
    from corpora.readers import open_texts

    corpus = open_texts(f"{texts}.en", f"{texts}.fr")
    model = model_of_text(corpus, AlignSettings())
    text = read_text(corpus, model)
    expected = aligner.align(f"{texts}.en", f"{texts}.fr")
    found = [model.align(*text.words(pair)) for pair in range(len(text.sentences))]
    assert [one.links for one in found] == [one.links for one in expected]


def test_orders(session: Sessions, loaded: Model) -> None:
    queues = {}
    for order, settings in {"given": {}, "random": {}, "other": {"order": "random", "seed": 1}, "unsure": {}}.items():
        opened = session(**{"order": order, **settings})
        queues[order] = opened.queue
        opened.close()
    assert queues["given"] == [*range(64)]
    assert all(sorted(queue) == [*range(64)] for queue in queues.values())
    assert len({tuple(queue) for queue in queues.values()}) == 4
    scores = [loaded.align(*opened.text.words(pair)).score for pair in queues["unsure"]]
    assert scores == sorted(scores)
    opened = session(order="random", number=7)
    assert opened.queue == queues["random"][:7]
    opened.close()
    assert session(order="random").queue == queues["random"]


def test_empty_and_equal_pairs_are_left_out(tmp_path: Path, session: Sessions) -> None:
    write(tmp_path / "test.en", "a b", "", "c", "a b", "d")
    write(tmp_path / "test.fr", "x y", "z", "", "x y", "w")
    assert session().queue == [0, 4]


def test_what_is_accepted_goes_into_every_format(site: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = site()
    works = {3: {**LINK, "possible": [[1, 0]]}, 1: LINK}
    for pair, work in works.items():
        assert served.ask("save", {"pair": pair, "revision": 0, "work": work})[0] == 200
    corpus = open_corpus(tmp_path / "gold")
    assert [line.decode().split() for _, line, _ in corpus.texts()] == [
        served.session.text.words(pair)[0] for pair in (1, 3)
    ]
    assert (tmp_path / "gold.wa").read_text() == "0-0\n0-0 1?0\n"
    assert served.ask("gold.pharaoh")[1] == "0-0\n0-0 1?0\n"
    for format in ("talp", "naacl", "comtrans", "tmx"):
        path = tmp_path / f"out.{format}"
        path.write_text(served.ask(f"gold.{format}")[1])
        assert read_links(path) == corpus.links().read()
    for format, kind in (("xlsx", "application/vnd.openxmlformats-"), ("csv", "text/csv"), ("talp", "text/plain")):
        with urlopen(f"{served.address}gold.{format}") as response:
            assert response.headers["Content-Type"].startswith(kind)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    status, body = served.ask("gold.xlsx")
    assert (status, "XLSX needs openpyxl" in str(body)) == (422, True)


def test_a_word_pair_is_approved_wherever_it_is_suggested(session: Sessions) -> None:
    opened = session()
    opened.save({"pair": 5, "revision": 0, "work": {**LINK, "status": "skipped"}})
    before = {pair: opened.pair({"pair": pair})["work"] for pair in opened.queue}
    (source, target, times), *_ = opened.words({})["words"]
    chosen = {"source": source, "target": target}
    assert opened.words(chosen)["links"] == times
    assert opened.approve({**chosen, "kind": "sure"})["pairs"] > 10
    found = 0
    for pair in opened.queue:
        work, words = opened.pair({"pair": pair})["work"], opened.text.words(pair)
        gone = {*map(tuple, before[pair]["suggested"])} - {*map(tuple, work["suggested"])}
        assert {*map(tuple, work["sure"])} == gone | {*map(tuple, before[pair]["sure"])}
        assert {(words[0][j].lower(), words[1][k].lower()) for j, k in gone} <= {(source, target)}
        found += len(gone)
    assert found == times
    assert opened.words(chosen)["links"] == 0
    opened.undo({})
    assert {pair: opened.pair({"pair": pair})["work"] for pair in opened.queue} == before, "one step"


def test_two_annotators_and_what_is_decided_between_them(session: Sessions, tmp_path: Path) -> None:
    first, second = session(number=20), None
    for pair in (12, 3, 4):
        first.save({"pair": pair, "revision": 0, "work": LINK})
    second = session(annotator="Zoë", number=20)
    assert second.queue[:3] == [3, 4, 12], "those of the first come first"
    assert second.pair({"pair": 3})["work"]["sure"] == [], "and their links are not seen"
    for pair, work in {3: LINK, 4: {**LINK, "sure": [[1, 1]]}, 5: LINK}.items():
        second.save({"pair": pair, "revision": 0, "work": work})
    (other,) = second.agreements({})["others"]
    assert (other["name"], other["pairs"], other["same"], other["left"]) == ("gold", 2, 1, 1)
    assert [pair["pair"] for pair in other["different"]] == [4]
    assert other["aer"] == (0.5, 0.5)
    decide = {"pair": 4, "with": "gold"}
    shown = second.pair(decide)
    assert [side["sure"] for side in shown["sides"]] == [[(1, 1)], [(0, 0)]]
    assert shown["work"]["sure"] == []
    second.save({**decide, "revision": 0, "work": {**LINK, "sure": [[1, 1], [0, 0]]}})
    assert second.take_over({"with": "gold"}) == {"pairs": 1}
    assert (tmp_path / "gold.adjudicated.wa").read_text() == "0-0\n0-0 1-1\n"
    assert (tmp_path / "gold.wa").read_text() == "0-0\n0-0\n0-0\n"
    assert (tmp_path / "gold.Zoë.wa").read_text() == "0-0\n1-1\n0-0\n"
    assert len(first.agreements({})["others"]) == 1


def accept(opened: Session, pairs: int) -> None:
    for pair in range(pairs):
        work = opened.pair({"pair": pair})["work"]
        opened.save({"pair": pair, "revision": 0, "work": {**work, "status": "accepted"}})


@pytest.mark.parametrize("many", [False, True])
def test_training_on_what_is_accepted(many: bool, session: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    if many:  # so that no pairs are held out
        monkeypatch.setattr("aligner.training.settings.FEW_PAIRS", 12)
    opened = session()
    accept(opened, 12)
    opened.train({})
    wait_for(lambda: opened.pair({"pair": 40}) and opened.training({})["state"] != "running")  # it goes on answering
    found = opened.training({})
    assert (found["state"], found["pairs"]) == ("done", 12), found
    assert found["aer"] is None if many else found["interval"][0] <= found["aer"] <= found["interval"][1] < 40
    assert opened._suggester.model.record["labelled_pairs"] == 12, "whose links are suggested from now on"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_the_program_ends_the_training(session: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = session()
    accept(opened, 12)
    monkeypatch.setattr("aligner.pages.annotate.session.learn", lambda *_, **__: 1 / 0)
    opened.train({})
    wait_for(lambda: opened.training({})["state"] == "failed")
    assert "an error of the program" in opened.training({})["error"]
    for thread in threading.enumerate():
        if "_train" in thread.name:
            thread.join(TIMEOUT)  # else its error is told to a later test


def begin(folder: Path, *more: object) -> tuple[subprocess.Popen[bytes], str]:
    """Start the command on t.en and t.fr; its process, and the address of its page."""
    process = start("annotate", folder / "t.en", folder / "t.fr", "-o", folder / "gold", "--order", "given", *more)
    said = read_until(process.stderr.fileno(), "(Ctrl-C ends)").decode()
    found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", said)
    assert found, said
    return process, found[0]


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(signum: int, texts: Path, tmp_path: Path) -> None:
    for side in ("en", "fr"):
        texts.with_suffix(f".{side}").rename(tmp_path / f"t.{side}")
    process, address = begin(tmp_path)
    assert ask(f"{address}save", {"pair": 2, "revision": 0, "work": LINK})[0] == 200
    process.send_signal(signum)
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signum
    assert stdout == b""
    word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[signal.Signals(signum)]
    names = ", ".join(f"{tmp_path}/gold.{suffix}" for suffix in ("en", "fr", "wa"))
    assert stderr.decode().splitlines()[-1] == f"{word}: 1 accepted pair in {names}"
    assert not [*tmp_path.glob("*.tmp"), *tmp_path.glob(".*.tmp")]


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_kills_lose_nothing_that_was_answered(model: Path, tmp_path: Path, kills: int) -> None:
    """At random moments. What was answered is there when it is started again, and texts and links belong together."""
    rng, pairs, folder = random.Random(kills), 40, tmp_path
    write(folder / "t.en", *(f"a{n} b c d" for n in range(pairs)))
    write(folder / "t.fr", *(f"x{n} y z" for n in range(pairs)))
    kept: dict[int, str] = {}  # as it was answered
    asked: dict[int, str] = {}  # of the request that got no answer
    revisions: dict[int, int] = {}
    answers = [0]

    def annotate(address: str) -> None:
        with suppress(urllib.error.URLError, HTTPException, OSError):
            while True:
                pair = rng.randrange(pairs)
                links = sorted({(rng.randrange(4), rng.randrange(3)) for _ in range(rng.randrange(1, 6))})
                asked.clear()
                asked[pair] = " ".join(f"{j}-{k}" for j, k in links)
                given = {"pair": pair, "revision": revisions.get(pair, 0), "work": {**LINK, "sure": links}}
                status, answer = ask(f"{address}save", given)
                assert status == 200, answer
                kept[pair] = asked.pop(pair)
                revisions[pair] = answer["revision"]
                answers[0] += 1

    for kill in range(kills + 1):
        process, address = begin(folder, "-m", model)
        for pair in range(pairs):
            found = ask(f"{address}pair?pair={pair}")[1]
            revisions[pair] = found["revision"]
            if found["work"]["status"] == "accepted" and pair in asked:
                links = " ".join(f"{j}-{k}" for j, k in found["work"]["sure"])
                assert links in (asked[pair], kept.get(pair))
                kept[pair] = links
        corpus = open_corpus(folder / "gold")
        assert [line.decode() for _, line, _ in corpus.texts()] == [f"a{n} b c d" for n in sorted(kept)]
        assert not kept or [*corpus.links()] == [parse_links(kept[n], "", 0) for n in sorted(kept)]
        assert not [*folder.glob(".*.tmp")]
        if kill < kills:
            worker = threading.Thread(target=annotate, args=[address])
            wanted = answers[0] + rng.randrange(1, 8)
            worker.start()
            wait_for(lambda wanted=wanted: answers[0] >= wanted)
            time.sleep(rng.uniform(0, 0.08))
        process.kill()
        process.communicate()
        if kill < kills:
            worker.join()
    assert len(kept) >= min(kills, 35)


def test_it_goes_on_where_it_ended_but_not_with_another_text(session: Sessions, texts: Path, tmp_path: Path) -> None:
    opened = session()
    opened.save({"pair": 0, "revision": 0, "work": LINK})
    opened.close()
    opened = session()
    assert opened.pair({"pair": 0})["work"]["status"] == "accepted"
    opened.close()
    with texts.with_suffix(".en").open("a") as more, texts.with_suffix(".fr").open("a") as further:
        more.write("more\n")
        further.write("plus\n")
    message = refused("annotate", f"{texts}.en", f"{texts}.fr", "-o", tmp_path / "gold", "-q")
    assert message.startswith(f"{texts}.en: has 65 lines, but {tmp_path}/gold.journal was begun with 64 (")
    assert "--output" in message


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_its_packages_one_line_says_what_to_install(
    package: str, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("aligner.pages.annotate.app", "aligner.pages.http"):
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    result = run("annotate", f"{texts}.en", f"{texts}.fr", "-o", "gold", "-q", code=2)
    assert re.fullmatch(rf"the page .* needs {package}.*\(pip install starlette uvicorn\)\n", result.stderr)


def test_usage(texts: Path, tmp_path: Path, site: Sites) -> None:
    given = ["annotate", f"{texts}.en", f"{texts}.fr", "-q", "-o"]
    served = site()
    taken = run(*given, tmp_path / "other", "--port", served.port, code=1).stderr
    assert taken.startswith(f"port {served.port} of 127.0.0.1: ")
    assert "--port" in taken
    assert "is being written by another process" in refused(*given, tmp_path / "gold")
    assert "no such file" in refused("annotate", tmp_path / "no.en", f"{texts}.fr", "-o", tmp_path / "other")
    assert "adjudicated" in run(*given, tmp_path / "other", "--annotator", "adjudicated", code=2).stderr
    assert run(*given, tmp_path / "other", "--annotator", "../x", code=2).stderr
    assert refused(*given, texts).startswith(f"{texts}.en: ")
    write(tmp_path / "e.en")
    write(tmp_path / "e.fr")
    assert refused("annotate", tmp_path / "e.en", tmp_path / "e.fr", "-o", tmp_path / "e2")
    assert invoke("annotate", f"{texts}.en", f"{texts}.fr").exit_code == 2
    assert json.loads(Path(tmp_path / "gold.journal").read_text().splitlines()[0])["pairs"] == 64

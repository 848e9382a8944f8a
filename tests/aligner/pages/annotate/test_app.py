"""What the page is answered: who may ask, what is refused, what a session says, and what signals leave."""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from annotating import Site, ask
from commands import TIMEOUT, read_until, refused, run, start, wait_for, write

import aligner
from aligner.model.decoding import Alignment
from aligner.model.model import Model
from aligner.model.settings import AlignSettings
from aligner.pages.annotate.annotation import read_text
from aligner.pages.annotate.session import Session, _Suggester, model_of_text
from corpora.link_files import read_links
from corpora.readers import open_corpus, open_texts

pytestmark = pytest.mark.slow

Sessions, Sites = Callable[..., Session], Callable[..., Site]

LINK = {"sure": [[0, 0]], "possible": [], "suggested": [], "null": [[], []]}
LINK |= {"status": "accepted", "flagged": False, "comment": ""}


def test_only_who_knows_the_token_is_answered(site: Sites) -> None:
    served = site()
    assert served.ask("")[0] == served.ask("training")[0] == 200
    for path in ("/", "/training", "/other/", "/tokens/", "/Token/training", "/toke/", "/token1/"):
        assert ask(f"http://127.0.0.1:{served.port}{path}")[0] == 404, path


def test_other_names_and_origins_are_refused(site: Sites) -> None:
    served, given = site(), {"pair": 0, "revision": 0, "work": LINK}
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{}", "evil.example:{}", ""):
        assert served.ask("training", Host=host.format(served.port))[0] == 403, host
    assert served.ask("training", Host=f"localhost:{served.port}")[0] == 200
    for origin in ("null", "https://127.0.0.1:{}", "http://evil.example", "http://localhost:{}", ""):
        status, answer = served.ask("save", given, Origin=origin.format(served.port))
        assert (status, [*answer]) == (403, ["error"]), origin
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
    found, words = opened.pair({"pair": 3}), opened.text.words(3)
    links = loaded.align(*words)
    assert (found["source"], found["target"]) == words
    assert [tuple(link) for link in found["work"]["suggested"]] == [*links]
    assert [tuple(score) for score in found["scores"]] == [(*k, p) for k, p in zip(links, links.scores, strict=True)]


def test_without_a_model_it_begins_with_the_links_of_the_text_itself(texts: Path) -> None:
    corpus = open_texts(f"{texts}.en", f"{texts}.fr")
    model = model_of_text(corpus, AlignSettings())
    text = read_text(corpus, model)
    found = [model.align(*text.words(pair)).links for pair in range(len(text.sentences))]
    assert found == [one.links for one in aligner.align(f"{texts}.en", f"{texts}.fr")]


def test_orders(session: Sessions, loaded: Model) -> None:
    queues = {}
    for order, settings in {"given": {}, "random": {}, "other": {"order": "random", "seed": 1}, "unsure": {}}.items():
        opened = session(**{"order": order, **settings})
        queues[order] = opened.queue
        opened.close()
    assert queues["given"] == [*range(64)]
    assert all(sorted(queue) == [*range(64)] for queue in queues.values())
    assert len({*map(tuple, queues.values())}) == 4
    scores = [loaded.align(*opened.text.words(pair)).score for pair in queues["unsure"]]
    assert scores == sorted(scores)
    assert session(order="random", number=7).queue == queues["random"][:7]


def test_empty_and_equal_pairs_are_left_out(tmp_path: Path, session: Sessions) -> None:
    write(tmp_path / "test.en", "a b", "", "c", "a b", "d")
    write(tmp_path / "test.fr", "x y", "z", "", "x y", "w")
    assert session().queue == [0, 4]


def test_what_is_accepted_goes_into_every_format(site: Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = site()
    for pair, work in {3: {**LINK, "possible": [[1, 0]]}, 1: LINK}.items():
        assert served.ask("save", {"pair": pair, "revision": 0, "work": work})[0] == 200
    corpus = open_corpus(tmp_path / "gold")
    words = [served.session.text.words(pair)[0] for pair in (1, 3)]
    assert [line.decode().split() for _, line, _ in corpus.texts()] == words
    assert (tmp_path / "gold.wa").read_text() == served.ask("gold.pharaoh")[1] == "0-0\n0-0 1?0\n"
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

    def works() -> dict[int, Any]:
        return {pair: opened.pair({"pair": pair})["work"] for pair in opened.queue}

    before, found = works(), 0
    (source, target, times), *_ = opened.words({})["words"]
    chosen = {"source": source, "target": target}
    assert opened.words(chosen)["links"] == times
    assert opened.approve({**chosen, "kind": "sure"})["pairs"] > 10
    for pair, work in works().items():
        words = opened.text.words(pair)
        gone = {*map(tuple, before[pair]["suggested"])} - {*map(tuple, work["suggested"])}
        assert {*map(tuple, work["sure"])} == gone | {*map(tuple, before[pair]["sure"])}
        assert {(words[0][j].lower(), words[1][k].lower()) for j, k in gone} <= {(source, target)}
        found += len(gone)
    assert found == times
    assert opened.words(chosen)["links"] == 0
    opened.undo({})
    assert works() == before, "one step"


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
    assert opened.trained.record["labelled_pairs"] == 12


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


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it_and_loses_nothing_that_was_answered(
    signum: signal.Signals, texts: Path, session: Sessions, tmp_path: Path
) -> None:
    """For an end at any byte of the journal see the tests of stores."""
    process = start("annotate", f"{texts}.en", f"{texts}.fr", "-o", tmp_path / "gold", "--order", "given")
    said = read_until(process.stderr.fileno(), "(Ctrl-C ends)").decode()
    address = re.findall(r"http://127\.0\.0\.1:\d+/[\w-]{20,}/", said)[0]
    assert ask(f"{address}save", {"pair": 2, "revision": 0, "work": LINK})[0] == 200
    process.send_signal(signum)
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert stdout == b""
    if signum == signal.SIGKILL:
        assert process.returncode == -signum
    else:
        word = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}[signum]
        names = ", ".join(f"{tmp_path}/gold.{suffix}" for suffix in ("en", "fr", "wa"))
        assert process.returncode == 128 + signum
        assert stderr.decode().splitlines()[-1] == f"{word}: 1 accepted pair in {names}"
    assert session().pair({"pair": 2})["work"]["sure"] == [(0, 0)]
    assert (tmp_path / "gold.wa").read_text() == "0-0\n"
    assert not [*tmp_path.glob("*.tmp"), *tmp_path.glob(".*.tmp")]


def test_another_text_is_refused(session: Sessions, texts: Path, tmp_path: Path) -> None:
    session().close()
    for side in ("en", "fr"):
        with texts.with_suffix(f".{side}").open("a") as more:
            more.write("more\n")
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
    given, other = ["annotate", f"{texts}.en", f"{texts}.fr", "-q", "-o"], tmp_path / "other"
    port = site().port
    taken = refused(*given, other, "--port", port)
    assert taken.startswith(f"port {port} of 127.0.0.1: ")
    assert "--port" in taken
    assert "is being written by another process" in refused(*given, tmp_path / "gold")
    assert "no such file" in refused("annotate", tmp_path / "no.en", f"{texts}.fr", "-o", other)
    for name in ("adjudicated", "../x"):
        assert name in run(*given, other, "--annotator", name, code=2).stderr
    assert refused(*given, texts).startswith(f"{texts}.en: ")
    empty = write(tmp_path / "e.en"), write(tmp_path / "e.fr")
    assert refused("annotate", *empty, "-o", tmp_path / "e2")

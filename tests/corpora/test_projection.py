"""Labels across links: spans, parts of speech and trees."""

from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path

import pytest
from commands import refused, run, write
from hypothesis import given
from hypothesis import strategies as st
from readings import cases, refuses

from corpora.corpus import word_counts
from corpora.formats.conll import DEPREL, FEATS, HEAD, UPOS, Sentence, read_sentences
from corpora.projection import best_origins, project_labels, project_spans, project_tree

LINKS = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.floats(0.1, 1.0))
SPANS = st.sampled_from([[(0, 6, "A")], [(0, 2, "A"), (2, 5, "B")], [(1, 3, "A"), (4, 6, "A")], []])


def project_file(*files: Path) -> Iterator[Sentence]:
    return (one.rows for one in project_labels(*files))


@given(SPANS, LINKS)
def test_spans_hold_the_words_that_are_linked_to_them(
    spans: list[tuple[int, int, str]], links: dict[tuple[int, int], float]
) -> None:
    found = project_spans(spans, 6, links)
    assert all(one[1] <= other[0] for one, other in pairwise(found)), "in order, apart"
    linked = {k for _, k in links}
    for start, end, name in found:
        words = {k for (j, k), (a, b, own) in product(links, spans) if own == name and a <= j < b}
        assert {start, end - 1} <= words, "linked words are at the edges"
        assert {*range(start, end)} - words <= {*range(6)} - linked, "what is between is linked to nothing"


@pytest.mark.parametrize(
    ("links", "expected", "why"),
    cases(
        """
        0-0 1-2 ¦ A 0 3 ¦ an unlinked word between
        0-0 2-1 1-2 ¦ A 0 1, B 1 2 ¦ a word of another span: the first run
        0-0 2-1 1-2 1-3 ¦ B 1 2, A 2 4 ¦ the run with more links
        0-0 1-0 2-0 ¦ A 0 1 ¦ the span with more links
        3-0 ¦ ¦ no span
        """
    ),
)
def test_rules_of_spans(links: str, expected: str, why: str) -> None:
    found = project_spans([(0, 2, "A"), (2, 3, "B")], 4, {(int(link[0]), int(link[2])): 1.0 for link in links.split()})
    assert ", ".join(f"{name} {start} {end}" for start, end, name in found) == expected, why


def test_spans_with_words_in_common_both_keep_them() -> None:
    """One within another, and two that overlap; one that is apart still takes words of both."""
    links = {(n, n): 1.0 for n in range(6)}
    for spans in ([(0, 4, "A"), (1, 2, "B")], [(0, 3, "A"), (2, 5, "B")], [(0, 2, "A"), (0, 2, "B")]):
        assert project_spans(spans, 6, links) == spans
    spans = [(0, 3, "A"), (1, 2, "B"), (3, 6, "C")]
    found = project_spans(spans, 6, {**links, (3, 1): 1.0, (4, 1): 1.0})
    assert found == [(0, 1, "A"), (3, 6, "C")], (
        "C has more links to the word in the middle of A, and of B nothing is left"
    )


@given(LINKS)
def test_origins_are_the_most_probable(links: dict[tuple[int, int], float]) -> None:
    for k, origin in enumerate(best_origins(6, links)):
        own = {j: probability for (j, other), probability in links.items() if other == k}
        assert origin == (min(own, key=lambda j: (-own[j], j)) if own else None)


def test_a_tree_is_carried_across_one_to_one_links() -> None:
    """The trees of `the dog sleeps` and of `le chien dort`, which is labelled by the same links."""
    rows = [
        [str(n), word, "_", pos, "_", feats, head, relation, "_", "_"]
        for n, word, pos, feats, head, relation in (
            (1, "the", "DET", "_", "2", "det"),
            (2, "dog", "NOUN", "Number=Sing", "3", "nsubj"),
            (3, "sleeps", "VERB", "_", "0", "root"),
        )
    ]
    found = project_tree(rows, ["dort", "chien", "le"], [2, 1, 0])
    assert [[row[c] for c in (0, 1, UPOS, FEATS, HEAD, DEPREL)] for row in found] == [
        ["1", "dort", "VERB", "_", "0", "root"],
        ["2", "chien", "NOUN", "Number=Sing", "1", "nsubj"],
        ["3", "le", "DET", "_", "2", "det"],
    ]
    found = project_tree(rows, ["le", "x", "dort", "y"], [0, None, 2, 2])
    assert [(row[UPOS], row[HEAD], row[DEPREL]) for row in found] == [
        ("DET", "3", "det"),
        ("_", "_", "_"),
        ("VERB", "0", "root"),
        ("VERB", "_", "_"),
    ], "the nearest ancestor, no label without links, one place in the tree for two words"
    assert [row[HEAD] for row in project_tree(rows, ["le", "chien"], [0, 1])] == ["2", "_"], "the root is not there"
    rows[2][HEAD] = "2"
    assert [row[HEAD] for row in project_tree(rows, ["le"], [0])] == ["_"], "a circle"


def test_files(tmp_path: Path) -> None:
    labels, target, links = (tmp_path / name for name in ("labels", "target", "links"))
    labels.write_text("New B-LOC\nYork I-LOC\nsleeps O\n\nhe O\n\n")
    target.write_text("dort New York\nil\n")
    links.write_text("0-1 1-2 2-0\n0-0:0.5\n")
    assert "".join(map(str, project_file(labels, target, links))) == "dort O\nNew B-LOC\nYork I-LOC\n\nil O\n\n"
    (tmp_path / "again").write_text("".join(map(str, project_file(labels, target, links))))
    assert [one.words for one in read_sentences(tmp_path / "again")] == [["dort", "New", "York"], ["il"]]
    labels.write_text("a DET\nb NOUN\nd VERB\n\nc X\n")
    assert "".join(map(str, project_file(labels, target, links))) == "dort VERB\nNew DET\nYork NOUN\n\nil X\n\n"
    jsonl = '{"source": %s, "target": ["dort", "New", "York"], "links": [[0, 0]]}\n'
    own, other = (jsonl % words for words in ('["a", "b", "d"]', '["a", "b", "c"]'))
    longer = own.replace('"d"', '"d", "e"').replace("[[0, 0]]", "[[3, 0]]")
    for file, content, message in (
        (links, own, "links:1: the links end after 1 pair,"),
        (links, other * 2, "links:1: has links of other words"),
        (links, longer * 2, "links:1: has links of other words"),
        (target, "a b c\n \n", "target:2: is empty"),
        (labels, "a O\nb O\nc O\n", "labels:4: ends after 1 sentence,"),
        (target, "a b c\n", "target:1: ends after 1"),
        (links, "0-1\n", "links:1: the links end after 1 pair,"),
        (links, "0-1\n1-1\n", "links:2: link 1-1 is out of"),
        (target, "a b c\n\xff\n", "target:2: not valid UTF-8"),
    ):
        before = file.read_bytes()
        file.write_bytes(content.encode("latin-1"))
        with refuses(message):
            list(project_file(labels, target, links))
        file.write_bytes(before)


def test_words_are_counted_as_where_links_are_made(tmp_path: Path) -> None:
    """A no-break space, as in French numbers, does not end a word."""
    labels, target, links = (tmp_path / name for name in ("labels", "target", "links"))
    labels.write_text("10,000 B-MEASURE\neuros I-MEASURE\nnow O\n\n")
    target.write_text("10\u00a0000 euros maintenant\n", "utf-8")
    (lengths,) = word_counts([(1, b"10,000 euros now", target.read_bytes())])
    links.write_text(" ".join(f"{n}-{n}" for n in range(lengths[1])) + "\n")
    (found,) = project_file(labels, target, links)
    assert (found.words, found.labels) == (["10\u00a0000", "euros", "maintenant"], ["B-MEASURE", "I-MEASURE", "O"])


def test_text_of_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "labels").write_text("a X\nb Y\n")
    (tmp_path / "links").write_text("0-1 1-0\n")
    result = run("project", tmp_path / "labels", "-", tmp_path / "links", "-q", stdin=b"c d\n")
    assert result.stdout == "c Y\nd X\n\n"


def test_a_first_word_that_is_a_byte_order_mark_stays_one(tmp_path: Path) -> None:
    for name, content in (("labels", "a X\n"), ("target", "\ufeff\ufeff\n"), ("links", "0-0\n")):
        (tmp_path / name).write_text(content, "utf-8")
    run("project", *(tmp_path / name for name in ("labels", "target", "links")), "-q", "-o", tmp_path / "found")
    assert [one.words for one in read_sentences(tmp_path / "found")] == [["\ufeff"]]


def conllu(*rows: str, text: str = "") -> str:
    """Make a sentence of words or tokens, with their heads after a slash."""
    lines = [f"# text = {text}"] if text else []
    for row in rows:
        number, word, head = row.split("/")
        lines.append("\t".join([number, word, "_", word.upper(), "_", "_", head or "_", "_", "_", "_"]))
    return "\n".join([*lines, "", ""])


FOUR = '["w", "x", "y", "z"]'
JOINED = conllu("1/vai/0", "2-3/à/", "2/a/4", "3/o/4", "4/casa/1", "5/./1")


def projected(folder: Path, labels: str, target: str, links: str) -> list[Sentence]:
    for name, content in (("labels", labels), ("target", target), ("links", links)):
        (folder / name).write_text(content, "utf-8")
    return list(project_file(*(folder / name for name in ("labels", "target", "links"))))


@pytest.mark.parametrize(
    ("labels", "links", "line", "tokens"),
    [
        (conllu("1/a/0") + JOINED * 2, "0-0\n0-0 2-2\n1-1 3-2\n", 0, 0),  # of half of the sentences
        (JOINED * 2, "0-0 3-3\n4-3\n", 0, 0),
        (JOINED, "\n", 0, 0),
        (JOINED, f'{{"source": ["vai", "a", "o", "casa", "."], "target": {FOUR}, "links": [[3, 3]]}}\n', 0, 0),
        (conllu("1/He/2", "2/sleeps/0", "3/./2", text="He sleeps."), "0-0 1-1\n", 2, 2),
        (conllu("1/He/2", "2/sleeps/0", "3/./2", text="He sleeps ."), "0-0 1-1\n", 0, 0),
        (conllu("1/He/2", "2/sleeps/0", "3/./2", text="He sleeps."), "0-0 2-1\n", 0, 0),
    ],
)  # fmt: skip
def test_links_of_the_tokens_of_the_text_are_refused(
    tmp_path: Path, labels: str, links: str, line: int, tokens: int
) -> None:
    target = "w x y z\n" * links.count("\n")
    if not line:
        assert projected(tmp_path, labels, target, links)
        return
    with refuses(rf"labels:{line}: has \d words, but its links are of {tokens} tokens"):
        projected(tmp_path, labels, target, links)


OF_TOKENS = pytest.warns(UserWarning, match="links: the links count the tokens of .*labels, not its words")
JSONL = '{"source": ["vai", "à", "casa", "."], "target": ["w", "x", "y", "z"], "links": [[0, 0], [1, 1], [2, 2]]}\n'


@pytest.mark.parametrize(
    ("labels", "links", "expected"),
    [
        (JOINED, "0-0 1-1 2-2 3-3\n", ["VAI 0", "A 3", "CASA 1", ". 1"]),
        (conllu("1/a/0") + JOINED * 2, "0-0\n0-0 3-3\n1-1 2-2 3-3\n", ["_ _", "A 3", "CASA _", ". _"]),
        (JOINED, JSONL, ["VAI 0", "A 3", "CASA 1", "_ _"]),
        (JOINED, "vai à casa .\nw x y z\n0-0 1-1\n", ["VAI 0", "A 1", "_ _", "_ _"]),
        # What is nearest to the root is the token's, and the token stands where any of its words stood.
        (conllu("1-3/damelo/", "1/me/2", "2/da/0", "3/lo/2", "4/ya/1"), "0-0 1-1\n", ["DA 0", "YA 1"]),
        (conllu("1-2/a/", "1/b/3", "2/c/0", "3-4/d/", "3/e/4", "4/f/2"), "0-0 1-1\n", ["C 0", "F 1"]),
    ],
)  # fmt: skip
def test_links_of_the_tokens_of_the_text(tmp_path: Path, labels: str, links: str, expected: list[str]) -> None:
    with OF_TOKENS:
        *_, last = projected(tmp_path, labels, "w x y z\n" * labels.count("\n\n"), links)
    assert [f"{row[UPOS]} {row[HEAD]}" for row in last.rows][: len(expected)] == expected


def test_a_line_says_that_links_count_tokens(tmp_path: Path) -> None:
    """Of a pipe, too; links of words say nothing, and labels do not shift."""
    files = write(tmp_path / "l", JOINED * 2, end=""), write(tmp_path / "t", *["Go to the house ."] * 2)
    of_tokens, of_words = b"0-0 1-1 2-3 3-4\n" * 2, b"0-0 1-1 2-2 3-3 4-4\n" * 2
    (tmp_path / "k").write_bytes(of_tokens)
    for links, stdin in ((tmp_path / "k", b""), ("-", of_tokens)):
        result = run("project", *files, links, stdin=stdin)
        assert result.stderr == f"{links}: the links count the tokens of {files[0]}, not its words\n"
        assert [row.split("\t")[UPOS] for row in result.stdout.splitlines()[:5]] == ["VAI", "A", "_", "CASA", "."]
    result = run("project", *files, "-", stdin=of_words)
    assert not result.stderr
    assert [row.split("\t")[UPOS] for row in result.stdout.splitlines()[:5]] == ["VAI", "A", "O", "CASA", "."]


@pytest.mark.parametrize(
    ("rows", "message"),
    cases(
        """
        1/a/2 2/b/1 ¦ word 1 is above its own head, 2
        1/a/1 ¦ word 1 is above its own head, 1
        1/a/0 2/b/3 3/c/4 4/d/3 ¦ word 3 is above its own head, 4
        1/a/2 ¦ word 1 of 1 has the head '2'
        1/a/0 2/b/-1 ¦ word 2 of 2 has the head '-1'
        1/a/9999 ¦ word 1 of 1 has the head '999
        1/a/x ¦ word 1 of 1 has the head 'x'
        """
    ),
)
def test_heads_that_are_no_tree_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    with refuses(rf"labels:1: {message}"):
        projected(tmp_path, conllu(*rows.replace("9999", "9" * 5000).split()), "x\n", "0-0\n")


NO_LINKS = "{}-0\n", "0-{}\n", "1 {} 1\n", "{} 1 1\n", '{{"source": ["a"], "target": ["x"], "links": [[{}, 0]]}}\n'


@pytest.mark.parametrize("number", ["9" * 5000, "1" + "0" * 30])
@pytest.mark.parametrize("links", NO_LINKS)
def test_numbers_of_any_length_are_refused_in_a_line(tmp_path: Path, links: str, number: str) -> None:
    names = ("labels", conllu("1/a/0")), ("target", "x\n"), ("links", links.format(number))
    for name, content in names:
        (tmp_path / name).write_text(content)
    arguments = "project", *(tmp_path / name for name, _ in names), "-q"
    refused(*arguments, line=1)
    (tmp_path / "links").write_text("0-0\n")
    (tmp_path / "labels").write_text(conllu(f"{number}.1/b/", f"1-{number}/à/", "1/a/0"))
    refused(*arguments, line=1)
    (tmp_path / "labels").write_text(conllu("1/a/0", "1.1/b/"))
    run(*arguments)

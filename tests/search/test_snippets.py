"""Snippets: the best lines of a passage, no word cut in two, the matching words marked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.search.snippets import ELLIPSIS, LINE_WIDTH, MAX_LINES, Snippet, find_highlights, make_snippet
from pertinent.search.terms import Analyzer, is_cjk, tokens, words

ENGLISH = Analyzer("english")

CODE = "\n".join(
    [
        "Start it like this:",
        "",
        '```js title="start.js"',
        *(f"const before{number} = {number};" for number in range(12)),
        "cancelWorkflow(id);",
        *(f"const after{number} = {number};" for number in range(12)),
        "```",
        "",
        "Then wait.",
    ]
)

PARAGRAPH = " ".join(
    ["Nothing of interest is said in this sentence."] * 12
    + ["A workflow can be cancelled."]
    + ["Nor is anything said in this one."] * 12
)

WORDS = st.sampled_from(
    ["node", "nodes", "Publish", "a", "the", "createNode", "qos_profile", "x.y", "検索設定"]
)
PASSAGES = st.lists(st.lists(WORDS, max_size=40).map(" ".join), min_size=1, max_size=30).map("\n".join)
TEXTS = st.text(st.sampled_from("ab `~\n.!\t…é検索"), max_size=400)
QUERIES = st.lists(WORDS, max_size=4).map(" ".join)
LENGTHS = st.integers(50, 800)


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.highlights]


def excerpt_of(snippet: Snippet) -> str:
    """The snippet without ellipses and fences that were added."""
    text = re.sub(rf"\A(?:[`~]+[^\n]*\n)?{ELLIPSIS}[ \n]", "", snippet.text)
    return re.sub(rf"[ \n]{ELLIPSIS}(?:\n[`~]+)?\Z", "", text)


def test_snippet_of_a_short_passage_is_the_passage() -> None:
    snippet = make_snippet("A joint has limits.\n", "joint limit", ENGLISH)
    assert snippet.text == "A joint has limits.\n"
    assert marked(snippet) == ["joint", "limits"]


def test_snippet_has_the_lines_around_the_best_match() -> None:
    lines = [f"Line {number} is about node {number}." for number in range(40)]
    lines[25] = "Here a workflow is cancelled."
    snippet = make_snippet("\n".join(lines), "cancel the workflow of a node", ENGLISH)
    assert snippet.text == "… " + "\n".join(lines[21:29]) + " …"
    assert {"workflow", "cancelled"} <= set(marked(snippet))


def test_snippet_prefers_different_terms_to_a_repeated_one() -> None:
    passage = "\n".join(
        ["nodes nodes nodes"] * 10 + ["filler"] * 10 + ["a node and its topic"] + ["filler"] * 10
    )
    assert "topic" in make_snippet(passage, "node topic", ENGLISH).text


def test_snippet_prefers_the_exact_word_to_another_form() -> None:
    passage = "\n".join(["canceling"] + ["filler"] * 20 + ["cancel"] + ["filler"] * 20)
    assert marked(make_snippet(passage, "cancel", ENGLISH)) == ["cancel"]


def test_snippet_of_a_long_paragraph_begins_and_ends_with_a_sentence() -> None:
    snippet = make_snippet(PARAGRAPH, "cancel a workflow", ENGLISH, 200)
    assert snippet.text.startswith("… Nothing of interest")
    assert snippet.text.endswith("in this one. …")
    assert marked(snippet) == ["workflow", "cancelled"]
    assert len(snippet.text) <= 200


def test_snippet_inside_a_code_block_keeps_its_fences() -> None:
    snippet = make_snippet(CODE, "cancel workflow", ENGLISH)
    lines = snippet.text.splitlines()
    assert lines[:2] == ['```js title="start.js"', ELLIPSIS]
    assert lines[-2:] == [ELLIPSIS, "```"]
    assert "cancelWorkflow(id);" in lines
    assert marked(snippet) == ["cancelWorkflow"]


def test_snippet_does_not_close_a_code_block_twice() -> None:
    assert make_snippet(CODE, "wait", ENGLISH).text.count("```") == 2


@pytest.mark.parametrize("query", ["installer", "assets", "copy", "zebra"])
@given(length=LENGTHS)
def test_snippet_of_code_whose_opening_fence_is_long_has_whole_fences(query: str, length: int) -> None:
    fence = f'```js title="{"assets/" * 30}installer.js" showLineNumbers'
    code = [fence, *(f"copy(file{number});" for number in range(20)), "```"]
    passage = "\n".join(["Run the installer.", "", *code, "", "It copies the files of the installer."])
    snippet = make_snippet(passage, query, ENGLISH, length)
    lines = snippet.text.splitlines()
    fences = [line for line in lines if line.startswith("```")]
    assert len(fences) in (0, 2)
    assert fences[1:] in ([], ["```"])
    assert len(snippet.text) <= max(length, len(fence))


@pytest.mark.parametrize("line", ["- item", "| a | b |", "## heading", "    indented", "1. item", "> quote"])
def test_ellipsis_does_not_change_what_a_line_is(line: str) -> None:
    snippet = make_snippet("\n".join([line] * 20), "", ENGLISH)
    assert snippet.text.splitlines() == [line] * MAX_LINES + [ELLIPSIS]


@pytest.mark.parametrize(("length", "count"), [(50, 1), (160, 2), (161, 3), (240, 3), (640, 8), (2000, 8)])
def test_snippet_has_as_many_short_lines_as_its_length_fills(length: int, count: int) -> None:
    snippet = make_snippet("\n".join(["node"] * 30), "node", ENGLISH, length)
    assert snippet.text.splitlines() == ["node"] * (count - 1) + [f"node {ELLIPSIS}"]


def test_blank_lines_count_in_a_code_block_only() -> None:
    lines = "\n\n".join(f"node {number}" for number in range(9))
    prose = make_snippet(lines, "", ENGLISH, 240).text
    assert prose == f"node 0\n\nnode 1\n\nnode 2 {ELLIPSIS}"
    code = make_snippet(f"```\n{lines}\n```", "node 4", ENGLISH, 240).text
    assert code == f"```\n{ELLIPSIS}\nnode 3\n\nnode 4\n{ELLIPSIS}\n```"


def test_snippet_marks_identifiers_by_their_parts() -> None:
    assert find_highlights("call useWindowDimensions()", "window", ENGLISH) == [(5, 24)]


def test_snippet_marks_chinese_words_without_spaces() -> None:
    assert find_highlights("設定と検索の方法", "検索", Analyzer("chinese")) == [(3, 5)]


def test_stop_words_are_marked_only_in_a_query_without_other_words() -> None:
    assert find_highlights("the node", "the node", ENGLISH) == [(4, 8)]
    assert find_highlights("to be or not", "to be", ENGLISH) == [(0, 2), (3, 5)]


def test_snippet_without_a_match_is_the_beginning() -> None:
    snippet = make_snippet(PARAGRAPH, "zebra", ENGLISH, 120)
    assert PARAGRAPH.startswith(snippet.text.removesuffix(" …"))
    assert snippet.highlights == []


@pytest.mark.parametrize("text", ["x" * 500, f"{'x' * 500} node", "検" * 500])
def test_snippet_shows_a_word_that_is_too_long_as_a_whole(text: str) -> None:
    snippet = make_snippet(text, "x" * 500, ENGLISH, 50)
    assert len(snippet.text) <= 50 or "x" * 500 in snippet.text


@given(PASSAGES | TEXTS, QUERIES, LENGTHS)
def test_snippet_is_a_part_of_the_passage_and_an_ellipsis_marks_what_is_left_out(
    passage: str, query: str, length: int
) -> None:
    snippet = make_snippet(passage, query, ENGLISH, length)
    excerpt = excerpt_of(snippet)
    assert snippet.text == passage or excerpt in passage
    if snippet.text != passage and snippet.text.strip() != passage.strip():
        assert ELLIPSIS in snippet.text


@given(PASSAGES, QUERIES, LENGTHS)
def test_snippet_keeps_to_its_length_and_lines(passage: str, query: str, length: int) -> None:
    snippet = make_snippet(passage, query, ENGLISH, length)
    assert len(snippet.text) <= length
    lines = [line for line in excerpt_of(snippet).splitlines() if line.strip()]
    assert len(lines) <= MAX_LINES
    assert sum(len(line) for line in lines) <= MAX_LINES * LINE_WIDTH + MAX_LINES


@given(PASSAGES, QUERIES, LENGTHS)
def test_snippet_never_cuts_a_word(passage: str, query: str, length: int) -> None:
    words_of_passage = {token.text for token in tokens(passage)}
    excerpt = excerpt_of(make_snippet(passage, query, ENGLISH, length))
    assert {token.text for token in tokens(excerpt) if not is_cjk(token.text)} <= words_of_passage


@given(PASSAGES, QUERIES, LENGTHS)
def test_highlights_are_the_matching_words_in_order(passage: str, query: str, length: int) -> None:
    snippet = make_snippet(passage, query, ENGLISH, length)
    positions = [position for highlight in snippet.highlights for position in highlight]
    assert positions == sorted(positions)
    query_terms = set(map(ENGLISH.stem, words(query)))
    for word in marked(snippet):
        assert query_terms & set(map(ENGLISH.stem, words(word)))
    assert bool(snippet.highlights) == bool(find_highlights(passage, query, ENGLISH))


def test_snippet_of_a_passage_of_megabytes_has_the_first_matches() -> None:
    late = make_snippet("word. " * 50_000 + "A zebra runs.", "zebra", ENGLISH)
    assert "A zebra runs." in late.text
    everywhere = make_snippet("zebra. " * 50_000, "zebra", ENGLISH)
    assert everywhere.text.startswith("zebra. zebra.")
    assert everywhere.text.endswith(ELLIPSIS)
    in_one_sentence = make_snippet("zebra word " * 50_000, "zebra", ENGLISH)
    assert len(in_one_sentence.text) <= MAX_LINES * LINE_WIDTH

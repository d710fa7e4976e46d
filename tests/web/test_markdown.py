"""The small renderer and the marks, as the browser runs them."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import pytest

from .conftest import Reader

CALL = """async ([module, name, ...given]) => (await import(`/static/${module}.js`))[name](...given)"""
DRAW = """async ([text, words]) => {
    const { render } = await import("/static/markdown.js");
    const { buildPattern } = await import("/static/highlight.js");
    const box = document.createElement("div");
    box.append(render(text, words && buildPattern(words)));
    return box.innerHTML;
}"""


def blocks(bench: Reader, text: str) -> list[dict[str, Any]]:
    parsed = bench.js(CALL, ["markdown", "parseBlocks", text])
    assert isinstance(parsed, list)
    return parsed


def drawn(bench: Reader, text: str, words: str = "") -> str:
    return str(bench.js(DRAW, [text, words]))


def test_cut_code_fences_are_rendered_as_code(bench: Reader) -> None:
    assert [b["kind"] for b in blocks(bench, "Before.\n\n```py\nx = 1\n\ny = 2")] == ["prose", "code"]
    assert [b["kind"] for b in blocks(bench, "x = 1\n\ny = 2\n```\n\nAfter.")] == ["code", "prose"]
    kinds = [b["kind"] for b in blocks(bench, "x = 1\n```\n\nBetween.\n\n```py\ny = 2")]
    assert kinds == ["code", "prose", "code"]
    middle = (
        "        feedback.steps = step\n        result.walked = 1\n    return result\n\n    def next(self):"
    )
    assert [b["kind"] for b in blocks(bench, middle)] == ["code"]
    full = blocks(bench, "````md\n```py\nx\n```\n````\n\nAfter.")
    assert [b["kind"] for b in full] == ["code", "prose"]
    assert full[0]["lines"] == ["```py", "x", "```"]


def test_code_keeps_its_indentation_and_language(bench: Reader) -> None:
    html = drawn(bench, "```unknown title='a.py'\n    x = 1 < 2\n```")
    assert html == '<pre data-language="unknown"><code>    x = 1 &lt; 2</code></pre>'


@pytest.mark.parametrize("language", ["constructor", "__proto__", "valueof", "hasOwnProperty"])
def test_code_whose_language_is_a_name_of_javascript_is_plain(bench: Reader, language: str) -> None:
    bench.js("() => import('/static/vendor/highlight.min.js')")
    html = drawn(bench, f"```{language}\nx = 1\n```")
    assert html == f'<pre data-language="{language}"><code>x = 1</code></pre>'


def test_code_with_a_character_that_html_drops_is_plain(bench: Reader) -> None:
    bench.js("() => import('/static/vendor/highlight.min.js')")
    assert drawn(bench, "```python\nx = 'a\0b'\n```", "x").endswith(
        "<code><mark>x</mark> = 'a\0b'</code></pre>"
    )


def test_lists_are_nested_by_their_indentation(bench: Reader) -> None:
    html = drawn(bench, "- a\n  - b\n    - c\n  - d\n- e\n\n3. f\n4. g\n   more of g")
    assert html == (
        "<ul><li>a<ul><li>b<ul><li>c</li></ul></li><li>d</li></ul></li><li>e</li></ul>"
        '<ol start="3"><li>f</li><li>g\nmore of g</li></ol>'
    )
    assert drawn(bench, "  - cut above\n- b") == "<ul><li>cut above</li></ul><ul><li>b</li></ul>"
    assert drawn(bench, "- a\n  1. b\n  2. c") == "<ul><li>a<ol><li>b</li><li>c</li></ol></li></ul>"


def test_table_without_head_is_rendered(bench: Reader) -> None:
    full = drawn(bench, "| a | b |\n| --- | :-: |\n| `x\\|y` | 2 |")
    assert '<thead><tr><th scope="col">a</th>' in full
    assert '<td><code>x|y</code></td><td class="centre">2</td>' in full
    cut = drawn(bench, "| x | 1 |\n| y | 2 |")
    assert "thead" not in cut
    assert cut.count("<tr>") == 2


@pytest.mark.parametrize(
    ("language", "code", "kind"),
    [
        ("js", "const x = 1;", "keyword"),
        ("tsx", "type A = string;", "keyword"),
        ("bash npm2yarn", "echo 'a'  # b", "string"),
        ("mdx", "# Title", "section"),
        ("json5", '{"a": true}', "keyword"),
        ("diff", "-old", "deletion"),
        ("vue", "<b>x</b>", "tag"),
    ],
)
def test_code_of_a_known_language_has_coloured_tokens(
    bench: Reader, language: str, code: str, kind: str
) -> None:
    bench.js("""() => import("/static/vendor/highlight.min.js")""")
    html = drawn(bench, f"```{language}\n{code}\n```")
    assert f'class="hljs-{kind}"' in html
    assert re.sub("<[^>]+>", "", html) == escape(code, quote=False)


def test_match_that_spans_several_tokens_is_one_mark(bench: Reader) -> None:
    bench.js("""() => import("/static/vendor/highlight.min.js")""")
    html = bench.js(
        """async () => {
            const { render } = await import("/static/markdown.js");
            const box = document.createElement("div");
            box.append(render("```js\\nlet a = 'b';\\n```", /et a = 'b/g));
            return box.querySelector("code").innerHTML;
        }"""
    )
    keyword = '<span class="hljs-keyword">{}</span>'
    string = '<span class="hljs-string">{}</span>'
    marked = f"<mark>{keyword.format('et')} a = {string.format(chr(39) + 'b')}</mark>"
    assert html == f"{keyword.format('l')}{marked}{string.format(chr(39))};"


def test_headings_and_inline_code_are_rendered_and_links_stay_text(bench: Reader) -> None:
    assert drawn(bench, "## A `b`\n\nc") == "<h4>A <code>b</code></h4><p>c</p>"
    assert drawn(bench, "``a ` b`` and **c** _d_ [e](http://f)") == (
        "<p><code>a ` b</code> and <strong>c</strong> _d_ [e](http://f)</p>"
    )
    assert drawn(bench, "an `open tick") == "<p>an `open tick</p>"
    assert drawn(bench, "") == ""
    assert drawn(bench, "#hashtag") == "<p>#hashtag</p>"


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("publishing", "Publishers publish; a republished one does not", ["Publishers", "publish"]),
        (
            "how do I set joint limits?",
            "The joint has limits; is it jointed?",
            ["joint", "limits", "jointed"],
        ),
        ("qos", "QoS, qoss, qosmos", ["QoS", "qoss", "qosmos"]),
        ("qos ", "QoS, qosmos", ["QoS"]),
        ("arm of a robot", "armature arms Robotics", ["arms", "Robotics"]),
        ("the", "the theory of the thing", ["the", "the"]),
        ("c++ (.*)", "C and c", ["C", "c"]),
        ("größe", "Die GRÖSSE, die Größe", ["Größe"]),
        ("机器人", "这个机器人会走", ["机器人"]),
        ("use_sim_time", "set use_sim_time to true", ["use_sim_time"]),
        ("?!", "nothing at all?!", []),
    ],
)
def test_query_words_are_highlighted(bench: Reader, query: str, text: str, marked: list[str]) -> None:
    html = drawn(bench, text, query)
    assert [part.split("</mark>")[0] for part in html.split("<mark>")[1:]] == marked


def test_parts_are_derived_from_urls_in_book_order(bench: Reader) -> None:
    def parts(*urls: str) -> list[tuple[str, str, str]]:
        documents = [{"url": url, "title": "Using URDF with Nav2"} for url in urls]
        parsed = bench.js(CALL, ["parts", "findParts", documents])
        return [(part["key"], part["name"], part["url"]) for part in parsed]

    site = "https://a.example/docs"
    assert parts(
        site, f"{site}/ros2/nodes", f"{site}/launch", f"{site}/robot-body/x", f"{site}/robot-body/y"
    ) == [
        ("ros2", "ROS2", f"{site}/ros2"),
        ("robot-body", "Robot body", f"{site}/robot-body"),
    ]
    assert [name for _, name, _ in parts(f"{site}/urdf/a", f"{site}/nav2_stack/b")] == ["URDF", "Nav2 stack"]
    assert parts(f"{site}/only/a", f"{site}/only/b") == []
    assert parts() == []
    assert parts("no address", f"{site}/a") == []
    assert [part[2] for part in parts("file:///x/a/1.md", "file:///x/b/2.md")] == [
        "file:///x/a",
        "file:///x/b",
    ]
    hosts = parts("https://a.example/x/1", "https://b.example/y/2")
    assert [part[2] for part in hosts] == ["https://a.example", "https://b.example"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Joints ##", "<h4>Joints</h4>"),
        ("## Joints #1  ", "<h4>Joints #1</h4>"),
        ("### C#", "<h5>C</h5>"),
        ("# ##", "<h4>##</h4>"),
        ("`` a ` b `` and `c", "<p><code>a ` b</code> and `c</p>"),
        ("`a``b` **x** ` `", "<p><code>a``b</code> <strong>x</strong> <code> </code></p>"),
    ],
)
def test_closing_marks_of_headings_and_code_are_recognised(bench: Reader, text: str, expected: str) -> None:
    assert drawn(bench, text) == expected

"""Markdown and MDX to the normal form: each rule by an example, and what must hold for any text."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.sources.markdown.parser import DocumentParser
from pertinent.sources.normal_form import BlockPiece, HeadingPiece, Piece, assemble


def pieces(text: str, *, mdx: bool = True) -> list[Piece]:
    return DocumentParser(Path("site")).parse(Path("page.mdx" if mdx else "page.md"), {}, text)


def normal(text: str, *, mdx: bool = True) -> str:
    return assemble(pieces(dedent(text), mdx=mdx), "")[0]


def anchors(text: str, *, mdx: bool = True) -> list[str]:
    return [piece.anchor for piece in pieces(text, mdx=mdx) if isinstance(piece, HeadingPiece)]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("*a* **b** __c__ ~~d~~", "a b c d"),
        ("[text](https://x.y 'title') and [ref][r]\n\n[r]: https://x.y", "text and ref"),
        ("![alt *text*](a.png)", "alt text"),
        ("`a  < {b}` c", "`a < {b}` c"),
        ("`` a`b ``", "``a`b``"),
        ("&lt;tag&gt; &amp; &copy; &#65;", "<tag> & © A"),
        ("one\ntwo  \nthree\\\nfour", "one two three four"),
        ("a<br/>b", "a b"),
        ("emoji 🎉 stays", "emoji 🎉 stays"),
        ("{props.name} and {frontMatter.title}x{/* comment */}", "and x"),
        ("{'shown'}{\" too\"}", "shown too"),
        ("a <!-- gone --> b", "a b"),
        ("<b>bold</b> and <Highlight color={c => c}>mark</Highlight>", "bold and mark"),
        ("press <kbd>Ctrl</kbd> + <code>x</code>", "press Ctrl + `x`"),
        ("a > b, 1 < 2, x{y, Vec<T> and {unclosed", "a > b, 1 < 2, x{y, Vec<T> and {unclosed"),
        ("<https://x.y/z> and <a@b.cd>", "https://x.y/z and a@b.cd"),
        ("node:fs and :smile: at 10:30", "node:fs and :smile: at 10:30"),
        ("\\# not a heading \\{x\\} \\<y>", "# not a heading {x} <y>"),
        ("---\n\n***", ""),
        ("> quoted\n> text\n>\n> more", "quoted text\n\nmore"),
        ("note[^1].\n\n[^1]: The *note*.", "note.\n\n## Footnotes\n\n1. The note."),
        ('<img src="a.png" alt="a robot" />', "a robot"),
        ("import is a word that begins this sentence.", "import is a word that begins this sentence."),
    ],
)
def test_inline(source: str, shown: str) -> None:
    assert normal(source) == shown


def test_imports_and_exports_go() -> None:
    source = """\
    import Tabs from '@theme/Tabs';
    import {
      A,
      B,
    } from './parts';
    import './style.css';

    export const Card = ({children}) => (
      <div>

        {children}
      </div>
    );

    export default function X() { return null }

    Text stays.
    """
    assert normal(source) == "Text stays."


def test_jsx_goes_and_the_text_inside_stays() -> None:
    source = """\
    <Card
      title={<b>no</b>}
      items={[
        {label: 'It\\'s', value: "}"},
      ]}
      onClick={() => { a > b ? c() : d() }}
    >

    Inside *one*.

    <>
      <Deep.One {...props} />
      Inside two.
    </>

    </Card>
    {/* a
    comment over

    lines */}
    <!-- another

    one -->
    <style>{`.a { color: red }`}</style>
    <svg><path d="M0"/><text>no</text></svg>
    End.
    """
    assert normal(source) == "Inside one.\n\nInside two.\n\nEnd."


def test_code_is_never_taken_for_anything_else() -> None:
    source = """\
    ```jsx title="src/App.js" {2} showLineNumbers
    import A from 'a'
    # not a heading
    <A>{b}</A>
    :::note
    ```

    ~~~~MD
    ```
    inner
    ```
    ~~~~
    """
    shown = """\
    src/App.js

    ```jsx
    import A from 'a'
    # not a heading
    <A>{b}</A>
    :::note
    ```

    ````md
    ```
    inner
    ```
    ````"""
    assert normal(source) == dedent(shown)


def test_magic_comments_go_as_on_the_built_page() -> None:
    source = """\
    ```js
    // highlight-next-line
    a();
    /* highlight-start */
    b(); // highlight-start
    // highlight-end
    ```

    ```py
    // highlight-next-line
    # highlight-next-line
    ```

    ```js {1}
    // highlight-next-line
    ```
    """
    shown = """\
    ```js
    a();
    b(); // highlight-start
    ```

    ```py
    // highlight-next-line
    ```

    ```js
    // highlight-next-line
    ```"""
    assert normal(source) == dedent(shown)


def test_admonitions_become_their_title_and_contents() -> None:
    source = """\
    :::note

    One.

    :::

    :::tip[With *title*]
    Two.
    :::

    :::warning Old title
    Three.
    :::

    ::::info[Outer]
    :::danger
    Inner.
    :::
    After.
    ::::

    - item
      :::caution
      In a list.
      :::

    :::custom
    Four.
    :::

    <Admonition type="tip" title="JSX">Five.</Admonition>
    """
    shown = "Note|One.|With title|Two.|Old title|Three.|Outer|Danger|Inner.|After.|- item|Caution|In a list."
    assert [piece.text for piece in pieces(dedent(source))] == [*shown.split("|"), "Four.", "JSX", "Five."]


def test_the_label_of_a_tab_stands_above_its_contents() -> None:
    source = """\
    <Tabs groupId="lang" values={[{label: 'C++ code', value: 'cpp'}]}>
      <TabItem value="py" label="Python" default>
        ```python
        print()
        ```
      </TabItem>
      <TabItem value="cpp">Some text</TabItem>
      <TabItem value="rust">

        - item

      </TabItem>
    </Tabs>
    """
    shown = ["Python", "```python\nprint()\n```", "C++ code", "Some text", "rust", "- item"]
    assert [piece.text for piece in pieces(dedent(source))] == shown


def test_details_keep_their_summary() -> None:
    source = "<details>\n<summary>More `info`</summary>\n\nHidden text.\n\n</details>\n"
    assert normal(source) == "More `info`\n\nHidden text."


def test_lists_keep_depth_and_numbers() -> None:
    source = """\
    - a
      - b
        1. c

    3. three
    4. four

       second paragraph

       ```sh
       ls
       ```
    5. [x] done
    """
    shown = """\
    - a
      - b
        1. c
    3. three
    4. four

    second paragraph

    ```sh
    ls
    ```

    5. done"""
    assert normal(source) == dedent(shown)


def test_lists_may_stand_anywhere_in_jsx() -> None:
    source = "<A>\n  <B>\n      - a\n      - b\n        - c\n      - d\n  </B>\n</A>\n"
    assert normal(source) == "- a\n- b\n  - c\n- d"


def test_tables_become_rows_between_pipes() -> None:
    source = "| A | `b` |\n|---|:-:|\n| *x* | y \\| z<br/>w |\n| only |\n"
    assert normal(source) == "| A | `b` |\n| --- | --- |\n| x | y \\| z w |\n| only |  |"


def test_html_tables_and_lists_are_read_alike() -> None:
    source = """\
    <table>
      <tr><th>Name</th><th>Use</th></tr>
      <tr>
        <td>`x`</td>
        <td>

        - a
        - b

        </td>
      </tr>
    </table>

    <ul>
      <li>one</li>
      <li>two <b>bold</b></li>
    </ul>
    """
    shown = "| Name | Use |\n| --- | --- |\n| `x` | a b |\n\n- one\n- two bold"
    assert normal(source) == shown


@pytest.mark.parametrize(
    "source",
    [
        "<td>kept",
        "<pre>\nkept",
        "<h2>kept",
        "<table><tr><td>kept",
        "<style> kept",
        "<b>kept",
        "<ul><li>kept",
        "<td><pre>kept</td>",
        "> " * 40 + "kept",
        ":::note\nkept",
        "<!-- kept",
        "{kept",
        "`kept",
        "<Tabs>kept",
    ],
)
def test_what_never_closes_loses_no_text(source: str) -> None:
    assert "kept" in normal(source)


def test_code_blocks_of_jsx_are_code() -> None:
    source = '<CodeBlock language="js" title="a.js">{`const a = {\n  b: 1,\n};`}</CodeBlock>'
    assert normal(source) == "a.js\n\n```js\nconst a = {\n  b: 1,\n};\n```"


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("## Setup", "setup"),
        ("## With `code <T>` tag", "with-code-t-tag"),
        ("## [Link](https://e.com) and *em*", "link-and-em"),
        ("## Image ![alt text](./x.png) in it", "image-alt-text-in-it"),
        ("## Explicit {#my-Custom_ID}", "my-Custom_ID"),
        ("## Escaped \\{#my-id}", "my-id"),
        ("## Comment {/* #comment-id */}", "comment-id"),
        ("## Comment {/* #first second */}", "first"),
        ("## Not an id {/* plain */}", "not-an-id--plain-"),
        ("## Not an id <!-- #id -->", "not-an-id-"),
        ("## Away {#a} from the end", "away-a-from-the-end"),
        ("## Expr {1 + 1} x", "expr-1--1-x"),
        ("## JSX <b>bold</b> <br/> end", "jsx-bold--end"),
        ("## HTML &amp; entity &copy; x", "html--entity--x"),
        ("## node:fs module", "node-module"),
        ("## a :smile: b", "a-smile-b"),
        ("## std::vector", "stdvector"),
        ("## trailing ##", "trailing"),
        ("##\tTab", "tab"),
        ("Setext\ntwo lines\n---", "setexttwo-lines"),
        ("<!-- c --> Setext after a comment\n---", "setext-after-a-comment"),
        ("<!-- a\n\nb --> ## Heading after a comment", "heading-after-a-comment"),
        ("{1} {2}\n---", "1-2"),
        ("> ## In quote", "in-quote"),
        ("- ## In list", "in-list"),
        (":::note\n## In note\n:::", "in-note"),
        ("<div>\n## In div\n</div>", "in-div"),
        ("text\n## Interrupts", "interrupts"),
        ("    ## Indented is no code in MDX", "indented-is-no-code-in-mdx"),
        ("<T>\n    para\n    ## Deep\n</T>", "deep"),
        ('<h2 id="raw">Raw</h2>', "raw"),
        ("<h2>Raw without</h2>", ""),
        ("## 日本語 見出し", "日本語-見出し"),
    ],
)
def test_anchors_are_those_of_the_built_page(heading: str, anchor: str) -> None:
    assert anchors(heading) == [anchor]


def test_the_first_level_has_no_anchor_but_takes_a_slug() -> None:
    assert anchors("# Setup\n\n## Setup\n\n## Setup {#own}\n\n### Setup") == ["", "setup-1", "own", "setup-2"]


def test_an_explicit_id_takes_no_slug() -> None:
    assert anchors("## A {#setup}\n\n## Setup") == ["setup", "setup"]


def test_heading_text_is_plain() -> None:
    assert pieces("## The `x` [of](y) *it* {#id}")[0] == HeadingPiece(2, "The x of it", "id")


def test_plain_markdown_keeps_braces_and_indented_code() -> None:
    source = "# A {x} b\n\nUse /users/{id}.\n\n    # code\n    x = {1}\n\n<div>\n# no heading\n</div>\n"
    assert normal(source, mdx=False) == (
        "# A {x} b\n\nUse /users/{id}.\n\n```\n# code\nx = {1}\n```\n\n# no heading"
    )
    assert [type(piece) for piece in pieces(source, mdx=False)].count(HeadingPiece) == 1


def test_a_fence_for_translators_is_unwrapped() -> None:
    assert normal("```mdx-code-block\n<Card>\n\n## In it\n\n</Card>\n```\n") == "## In it"


WORD = st.text(alphabet="abcdefgh", min_size=1, max_size=8)
MARKS = st.text(alphabet="<>{}[]()#*_`~:|!-=\\/&;'\"$\n \tab1.", max_size=120)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=200), MARKS), st.booleans())
def test_no_text_breaks_the_parser_and_spans_are_exact(text: str, mdx: bool) -> None:
    found = pieces(text, mdx=mdx)
    whole, sections = assemble(found, "")
    blocks = [whole[block.start : block.end] for section in sections for block in section.blocks]
    assert blocks == [piece.text for piece in found if isinstance(piece, BlockPiece) and piece.text]


@settings(max_examples=100)
@given(st.lists(st.lists(WORD, min_size=1, max_size=12), min_size=1, max_size=8), st.data())
def test_no_word_of_a_paragraph_is_lost(paragraphs: list[list[str]], data: st.DataObject) -> None:
    wraps = [
        "{}", "> {}", "- {}", "1. {}", "**{}**", "# {}", ":::note\n{}\n:::", "<div>\n{}\n</div>", "<b>{}</b>",
        "<Tabs>\n  <TabItem value='x'>\n    {}\n  </TabItem>\n</Tabs>", "| {} |\n|---|", "```\n{}\n```",
        "[{}](x)",
    ]  # fmt: skip
    source = "\n\n".join(data.draw(st.sampled_from(wraps)).format(" ".join(words)) for words in paragraphs)
    shown = re.findall("[a-h]+", normal(source))
    wanted = [word for words in paragraphs for word in words]
    remaining = iter(shown)
    assert all(word in remaining for word in wanted)

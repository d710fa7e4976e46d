"""Markdown and MDX in normal form: an example for each rule, and properties of any text."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.sources.markdown.parser import DocumentParser
from pertinent.sources.markdown.symlinks import LinkBoundary
from pertinent.sources.normal_form import BlockPiece, HeadingPiece, Piece, assemble


def parse(text: str, *, mdx: bool = True) -> list[Piece]:
    return DocumentParser(Path("site"), LinkBoundary([])).parse(
        Path("page.mdx" if mdx else "page.md"), {}, text
    )


def normalize(text: str, *, mdx: bool = True) -> str:
    return assemble(parse(dedent(text), mdx=mdx), "")[0]


def anchors(text: str, *, mdx: bool = True) -> list[str]:
    return [piece.anchor for piece in parse(text, mdx=mdx) if isinstance(piece, HeadingPiece)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("*a* **b** __c__ ~~d~~", "a b c d"),
        ("[text](https://x.y 'title') and [ref][r]\n\n[r]: https://x.y", "text and ref"),
        ("![alt *text*](a.png)", "alt text"),
        ("![" * 5 + "a" + "](b)" * 5, "a"),
        ("![" * 8 + "a" + "](b)" * 8, "![![!a](b)](b)"),  # no page has images so deep in images
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
def test_inline_markup_becomes_plain_text(source: str, expected: str) -> None:
    assert normalize(source) == expected


@pytest.mark.parametrize("mdx", [True, False])
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"the torque $\tau_{max} = \frac{F}{A}$ is", r"the torque $\tau_{max} = \frac{F}{A}$ is"),
        (r"$f(t)\,dt$ and $x_1 * y_1 * z$", r"$f(t)\,dt$ and $x_1 * y_1 * z$"),
        ("$ \\pi\n\\cdot {r}^2 $ and $$x_{1}$$", r"$\pi \cdot {r}^2$ and $x_{1}$"),
        (
            "a\n$$\nx_{t+1} = \\begin{a}\n\n{b} \\\\ c\n$$\nb",
            "a\n\n$$ x_{t+1} = \\begin{a} {b} \\\\ c $$\n\nb",
        ),
        ("- a\n\n  $$\n  {x}\n  $$\n- b", "- a\n\n$$ {x} $$\n\n- b"),
        ("$$ {x}\n$$", "$$ {x} $$"),
        ("| a |\n|---|\n| $x_{1}$ |", "| a |\n| --- |\n| $x_{1}$ |"),
        ("**$5** or $6, and *$7* or $HOME/a_x", "$5 or $6, and $7 or $HOME/a_x"),
        ("`$x_{1}$` and \\$5 *a* \\$6", "`$x_{1}$` and $5 a $6"),
        ("pay $5_000/$6_000, $$ or $$$ *a* $", "pay $5_000/$6_000, $$ or $$$ a $"),
    ],
)
def test_formula_is_kept_as_written(source: str, expected: str, mdx: bool) -> None:
    assert normalize(source, mdx=mdx) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("pay $5 and $6 {x} or $ {y} $", "pay $5 and $6 or $ $"),
        ("$$\n\n{x}\n\ntext", "$$\n\ntext"),
        ("$$ a {x} $ b\n$$", "$$ a $ b $$"),
        ("- $$\n  a\n\n{x}\n$$", "- $$ a\n\n$$"),
    ],
)
def test_dollar_signs_without_a_formula_are_text(source: str, expected: str) -> None:
    assert normalize(source) == expected


def test_imports_and_exports_are_dropped() -> None:
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
    assert normalize(source) == "Text stays."


@pytest.mark.parametrize(
    "export",
    [
        "export let a;",
        "export var a",
        "export let a, b = 2;",
        "export default 5",
        "export default -1;",
        "export default foo + bar",
        "export default a ? b : c",
        "export default a[0]",
        "export default typeof a",
        "export default !a",
    ],
)
def test_every_export_is_dropped_from_mdx(export: str) -> None:
    assert normalize(f"{export}\n\nText stays.") == "Text stays."


@pytest.mark.parametrize(
    "sentence",
    [
        "import the package first and then go",
        "export let me explain",
        "export default settings with the tool",
        "export default settings in the panel",
        "export const is a keyword.",
        "export FOO_TOKEN=secret",
    ],
)
def test_sentences_about_exports_stay_in_mdx(sentence: str) -> None:
    assert normalize(sentence) == sentence


def test_jsx_tags_are_dropped_and_their_text_stays() -> None:
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
    assert normalize(source) == "Inside one.\n\nInside two.\n\nEnd."


def test_fenced_code_is_not_parsed() -> None:
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
    expected = """\
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
    assert normalize(source) == dedent(expected)


def test_magic_comments_are_dropped() -> None:
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
    expected = """\
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
    assert normalize(source) == dedent(expected)


def test_admonition_keeps_its_kind_and_title() -> None:
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

    :::tip[Tip]
    Five.
    :::

    <Admonition type="tip" title="JSX">Six.</Admonition>
    <Admonition>Seven.</Admonition>
    """
    expected = (
        "**Note:** One.|**Tip: With title**|Two.|**Warning: Old title**|Three.|**Info: Outer**|"
        "**Danger:** Inner.|After.|- item|**Caution:** In a list.|Four.|**Tip:** Five.|**Tip: JSX**|Six.|"
        "**Info:** Seven."
    )
    assert [piece.text for piece in parse(dedent(source))] == expected.split("|")


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ("- item", "**Note:**\n\n- item"),
        ("```\ncode\n```", "**Note:**\n\n```\ncode\n```"),
        ("### Heading\n\nText.", "**Note:**\n\n### Heading\n\nText."),
        ("| A |\n|---|\n| b |", "**Note:**\n\n| A |\n| --- |\n| b |"),
        ("", ""),
    ],
)
def test_label_of_an_admonition_is_above_what_is_no_paragraph(contents: str, expected: str) -> None:
    assert normalize(f":::note\n\n{contents}\n\n:::\n\nEnd.") == f"{expected}\n\nEnd.".strip()


def test_tab_label_is_above_its_contents() -> None:
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
    expected = ["**Python**", "```python\nprint()\n```", "**C++ code**", "Some text", "**rust**", "- item"]
    assert [piece.text for piece in parse(dedent(source))] == expected


def test_long_code_is_cut_between_its_top_level_constructs() -> None:
    functions = [f"function f{n}() {{\n" + f"  call({n});\n" * 60 + "}" for n in range(4)]
    pieces = parse('```js title="a.js"\n' + "\n\n".join(functions) + "\n```")
    assert [piece.text for piece in pieces] == [
        "a.js",
        *(f"```js\n{a}\n\n{b}\n```" for a, b in (functions[:2], functions[2:])),
    ]


def test_details_keep_their_summary() -> None:
    source = "<details>\n<summary>More `info`</summary>\n\nHidden text.\n\n</details>\n"
    assert normalize(source) == "More `info`\n\nHidden text."


def test_details_component_keeps_its_summary() -> None:
    assert normalize('<Details summary="More">\n\nText.\n\n</Details>') == "More\n\nText."


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
    expected = """\
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
    assert normalize(source) == dedent(expected)


@pytest.mark.parametrize("mdx", [True, False])
@pytest.mark.parametrize(
    "marks",
    ["> " * 150, "- " * 80, "> 1. " * 50, "".join(f"{'  ' * depth}- a\n" for depth in range(80)) + "  " * 80],
)
def test_deeply_nested_text_and_what_follows_it_are_kept(marks: str, mdx: bool) -> None:
    text = normalize(f"{marks}deep\n\n***\n\nafter\n", mdx=mdx)
    assert "deep" in text
    assert text.endswith("after")


def test_lists_may_be_indented_in_jsx() -> None:
    source = "<A>\n  <B>\n      - a\n      - b\n        - c\n      - d\n  </B>\n</A>\n"
    assert normalize(source) == "- a\n- b\n  - c\n- d"


def test_table_cells_are_between_pipes() -> None:
    source = "| A | `b` |\n|---|:-:|\n| *x* | y \\| z<br/>w |\n| only |\n"
    assert normalize(source) == "| A | `b` |\n| --- | --- |\n| x | y \\| z w |\n| only |  |"


def test_html_tables_and_lists_are_read_like_markdown() -> None:
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
    expected = "| Name | Use |\n| --- | --- |\n| `x` | a b |\n\n- one\n- two bold"
    assert normalize(source) == expected


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
        "export const a = {\n\n" * 5000 + "kept",
        "export const a = 1\n\n" + "<A b={" * 5000 + "kept",
        "export const a = 1\n\n" + "<A b={`${" * 1000 + "kept",
    ],
    ids=lambda source: source[:30],
)
def test_unclosed_constructs_lose_no_text(source: str) -> None:
    assert "kept" in normalize(source)


@pytest.mark.parametrize("code", ["ls -l", "{`ls -l`}"])
def test_code_in_pre_has_no_backquotes(code: str) -> None:
    assert normalize(f"<pre><code>{code}</code></pre>") == "```\nls -l\n```"


def test_jsx_code_block_is_code() -> None:
    source = '<CodeBlock language="js" title="a.js">{`const a = {\n  b: 1,\n};`}</CodeBlock>'
    assert normalize(source) == "a.js\n\n```js\nconst a = {\n  b: 1,\n};\n```"


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
        ("## Colon {#custom:id}", "custom"),
        ("## Colon in `code` {#a:b:c}", "a:b"),
        ("## Colon {#a:b-c.d}", "a.d"),
        ("## Colon {#a:b[label]}", "alabel"),
        ("## No directive {#x::y}", "x::y"),
        ("## No directive {#a:1}", "a:1"),
        ("## A:directive {#a}", "a"),
        ("## Colon {/* #custom:id */}", "custom:id"),
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
        ("<h3 id={'text'}>Raw with an expression</h3>", "text"),
        ("<h3 id={makeId()}>Raw with a computed id</h3>", ""),
        ('<Heading as="h3" id="component">Component</Heading>', "component"),
        ('### `one` <div className="label ios">iOS</div>', "one-ios"),
        ("### <div>Only a block</div>", "only-a-block"),
        ("### <details><summary>Sum</summary> body</details>", "sum-body"),
        ("### <li>item</li> and <table><tbody><tr><td>cell</td></tr></tbody></table>", "item-and-cell"),
        ("### A <pre>pre</pre> heading", "a-pre-heading"),
        ("### A <style>{`.x { color: red }`}</style> heading", "a-x--color-red--heading"),
        ("### `prop` <div>x</div> {#own-id}", "own-id"),
        ("### `prop` <div>x</div>{/* #own-id */}", "own-id"),
        ("Setext <div>block</div>\n---", "setext-block"),
        ("## 日本語 見出し", "日本語-見出し"),
    ],
)
def test_heading_anchors_are_those_of_the_built_page(heading: str, anchor: str) -> None:
    assert anchors(heading) == [anchor]


def test_id_with_a_colon_stays_in_the_heading() -> None:
    assert parse("## Colon {#custom:id}") == [HeadingPiece(2, "Colon {#custom:id}", "custom")]


def test_formula_in_a_heading_is_part_of_its_anchor() -> None:
    assert parse(r"## The torque $\tau_{max}$") == [
        HeadingPiece(2, r"The torque $\tau_{max}$", "the-torque-tau_max")
    ]


def test_level_one_heading_has_no_anchor_but_uses_a_slug() -> None:
    assert anchors("# Setup\n\n## Setup\n\n## Setup {#own}\n\n### Setup") == ["", "setup-1", "own", "setup-2"]


def test_explicit_heading_id_uses_no_slug() -> None:
    assert anchors("## A {#setup}\n\n## Setup") == ["setup", "setup"]


def test_heading_text_is_plain() -> None:
    assert parse("## The `x` [of](y) *it* {#id}")[0] == HeadingPiece(2, "The x of it", "id")


@pytest.mark.parametrize("mdx", [False, True])
@pytest.mark.parametrize(
    ("source", "heading"),
    [
        ('### `one` <div class="label">iOS</div><div>Required</div>', "one iOS Required"),
        ("### <p>para</p> and <li>item</li>", "para and item"),
        ("### A <pre>pre</pre> heading", "A pre heading"),
        ("### <table><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("### <code>x</code> and <kbd>y</kbd>", "x and y"),
        ("<h3>\n  Raw <code>x</code> <div>block</div>\n</h3>", "Raw x block"),
    ],
)
def test_heading_with_block_tags_is_one_heading(source: str, heading: str, mdx: bool) -> None:
    pieces = parse(f"{source}\n\nText.", mdx=mdx)
    assert [(type(piece), piece.text) for piece in pieces] == [
        (HeadingPiece, heading),
        (BlockPiece, "Text."),
    ]


def test_plain_markdown_keeps_braces_and_indented_code() -> None:
    source = "# A {x} b\n\nUse /users/{id}.\n\n    # code\n    x = {1}\n\n<div>\n# no heading\n</div>\n"
    assert normalize(source, mdx=False) == (
        "# A {x} b\n\nUse /users/{id}.\n\n```\n# code\nx = {1}\n```\n\n# no heading"
    )
    assert [type(piece) for piece in parse(source, mdx=False)].count(HeadingPiece) == 1


def test_mdx_code_block_fence_is_unwrapped() -> None:
    assert normalize("```mdx-code-block\n<Card>\n\n## In it\n\n</Card>\n```\n") == "## In it"


WORD = st.text(alphabet="abcdefgh", min_size=1, max_size=8)
MARKS = st.text(alphabet="<>{}[]()#*_`~:|!-=\\/&;'\"$\n \tab1.", max_size=120)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=200), MARKS), st.booleans())
def test_any_text_is_parsed_and_block_spans_are_exact(text: str, mdx: bool) -> None:
    pieces = parse(text, mdx=mdx)
    page_text, sections = assemble(pieces, "")
    blocks = [page_text[block.start : block.end] for section in sections for block in section.blocks]
    assert blocks == [piece.text for piece in pieces if isinstance(piece, BlockPiece) and piece.text]


@settings(max_examples=100)
@given(st.lists(st.lists(WORD, min_size=1, max_size=12), min_size=1, max_size=8), st.data())
def test_no_word_of_a_paragraph_is_lost(paragraphs: list[list[str]], data: st.DataObject) -> None:
    wraps = [
        "{}", "> {}", "- {}", "1. {}", "**{}**", "# {}", ":::note\n{}\n:::", "<div>\n{}\n</div>", "<b>{}</b>",
        "<Tabs>\n  <TabItem value='x'>\n    {}\n  </TabItem>\n</Tabs>", "| {} |\n|---|", "```\n{}\n```",
        "[{}](x)",
    ]  # fmt: skip
    source = "\n\n".join(data.draw(st.sampled_from(wraps)).format(" ".join(words)) for words in paragraphs)
    remaining = iter(re.findall("[a-h]+", normalize(source)))
    assert all(word in remaining for words in paragraphs for word in words)

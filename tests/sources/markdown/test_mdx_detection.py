"""Without a Docusaurus config, a `.md` file is MDX only if its own text, not its code, says so."""

from __future__ import annotations

import time

import pytest

from pertinent.sources.markdown.large_files import LARGE_CHARACTERS
from pertinent.sources.markdown.mdx_detection import looks_like_mdx

from .conftest import WriteBook, read_pages

FENCED_EXPORT = """# API

Call GET /users/{id}/posts.

```bash
export FOO_TOKEN="secret"
```

Then run:

    # as root
    serve --port {port}
"""


def test_plain_markdown_with_an_export_in_its_code_keeps_its_braces(write_book: WriteBook) -> None:
    (page,) = read_pages(write_book({"api.md": FENCED_EXPORT})).values()
    assert page.text == (
        "# API\n\nCall GET /users/{id}/posts.\n\n"
        '```bash\nexport FOO_TOKEN="secret"\n```\n\n'
        "Then run:\n\n```\n# as root\nserve --port {port}\n```"
    )


@pytest.mark.parametrize(
    "text",
    [
        "```js\nimport X from 'x';\nexport default {a};\n\n<Card />\n\n{/* c */}\n```",
        "~~~\nimport X from 'x';\n~~~",
        "- item\n\n  ```jsx\n  <Card>\n  text\n  </Card>\n  ```",
        "> ```jsx\n> <Card />\n> ```",
        "    import X from 'x';\n\n    <Card />\n\n    {/* c */}",
        "Text:\n\n\t<Card />",
        "Write `<Card />`, `{/* c */}` or `export const a = 1`.",
        "`<Card />` is a component.",
        "`` `<Card>` `` and `</Card>`.",
        "A Vec<T> holds {n} items, a Map<String, T> holds pairs.",
        "Vec<T>\n<T>\n\n<T> is a type.",
        "List<T extends Item>\n\n<YOUR_TOKEN>",
        "Call `f`, then\nimport the file from 'Settings'.",
        'export FOO_TOKEN="secret"',
        "import os (not sys)",
        "import the data from 'x' first",
        "import data from 'x' and plot it",
        "export const is a keyword.",
        "export default settings come from the file.",
        "export default 5 values at a time.",
        "export default settings - and no others.",
        "export default values/settings",
        "export default\nsettings are used.",
        "export * marks what is public.",
        "export function names, not classes (see below).",
        "export class names like this one.",
        "<!-- <Card /> -->",
        "<BR>\n\n<IMG SRC='a.png' />\n\n<P>\ntext\n</P>",
        "<script type='module'>\nimport X from 'x';\n</script>",
        "A glob such as {/*.js,/*.ts} and {a}.",
        "An escaped \\{/* c */} and \\<Card />.",
    ],
)
def test_code_and_generics_are_no_marks_of_mdx(text: str) -> None:
    assert not looks_like_mdx(f"# Title\n\n{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "import X from 'x';",
        "import './style.css';",
        "import {\n  A,\n  B,\n} from 'x';",
        "export const a = {b: 1};",
        "export default function Layout() {\n\n  return 1;\n}",
        "export {a} from './a';",
        "import a, {b as c} from 'x'; // why",
        'import * as $x from "x"',
        "import A from './a'\nimport B from './b'",
        "export const [a, b] = f();",
        "export let größe = 1",
        "export class A extends B {}",
        "export * from './a';",
        "export default Layout;",
        "export default () => <p />;",
        "export async function f() {}",
        "<Card />",
        "Text\n\n<Tabs>\n  <TabItem value='a'>\n\n    Text\n\n  </TabItem>\n</Tabs>",
        "<Card title='a'>Text</Card>",
        "<Link to='/a'>\n  Text\n</Link>",
        "- item\n\n  <Card />",
        "> <Card />",
        ":::note\n\n<Card />\n\n:::",
        "## Heading {/* #id */}",
        "{/* a comment\n\nof two paragraphs */}",
        "Text {/* c */}.",
        "```js\nf();\n```\n\n<Card />",
    ],
)
def test_imports_exports_components_and_comments_are_marks_of_mdx(text: str) -> None:
    assert looks_like_mdx(f"# Title\n\n{text}\n")
    assert looks_like_mdx(text)


def test_large_file_is_searched_for_marks_in_its_text() -> None:
    filler = "Some words in a line.\n\n" * (LARGE_CHARACTERS // 20)
    assert looks_like_mdx(f"{filler}Text {{/* c */}}.\n")
    assert not looks_like_mdx(f"{filler}Text `{{/* c */}}`.\n")


@pytest.mark.parametrize(
    "repeated", ["<A ", "{/* ", "<A>\n", "import a\n\n", "export {\n\n", "`<A ", "> <A "]
)
def test_hostile_text_is_searched_in_bounded_time(repeated: str) -> None:
    begun = time.process_time()
    looks_like_mdx(repeated * 50_000)
    assert time.process_time() - begun < 20

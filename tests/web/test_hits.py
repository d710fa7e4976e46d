"""A hit: its place, its passage, its score, its context and its citation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from pertinent.search.snippets import make_snippet
from pertinent.search.terms import Analyzer

from .book import SITE
from .conftest import Reader, Visit
from .test_access import CONTRAST


def test_hit_links_to_its_section_and_shows_its_score_with_meaning_and_words(reader: Reader) -> None:
    with reader.page.expect_response("**/api/v1/search") as response:
        reader.open("/?q=friction+joint")
    best = response.value.json()["results"][0]
    hit = reader.hits.first
    link = hit.get_by_role("link", name="Joints › Friction")
    expect(link).to_have_attribute("href", f"{SITE}/body/joints#friction")
    total, *parts = (best["similarity_score"], best["scores"]["cosine"], best["scores"]["lexical"])
    meaning, words = (f"{part:.2f}" for part in parts)
    spoken = f"Score {total:.2f} of 1: meaning {meaning}, words {words}"
    expect(hit.locator(".score .visually-hidden")).to_have_text(spoken)
    expect(hit.locator(".score .total")).to_have_text(f"{total:.2f}")
    assert hit.locator(".score .bar").all_inner_texts() == [f"meaning\n{meaning}", f"words\n{words}"]
    shares = hit.locator(".fill").evaluate_all("all => all.map((one) => one.style.inlineSize)")
    assert shares == [f"{round(part * 100)}%" for part in parts]


def test_seed_003_page_without_title_is_shown_by_its_address(reader: Reader) -> None:
    def remove_titles(answer: dict[str, Any]) -> None:
        for result in answer["results"]:
            result["metadata"]["document_title"] = ""

    reader.change_answers(remove_titles)
    reader.open("/?q=friction+joint")
    address = f"{SITE}/body/joints"
    expect(reader.page.get_by_role("heading", level=2).first).to_have_text(address)
    expect(reader.hits.first.get_by_role("link", name=f"{address} › Friction")).to_be_visible()


def test_passage_renders_lists_tables_and_code(reader: Reader) -> None:
    reader.open("/?q=lower+limit+radians+zero+position")
    reader.hits.first.get_by_role("button", name="Show all").click()
    nested = reader.hits.first.locator(".passage ul ul li")
    expect(nested).to_have_text("measured from the zero position")
    reader.open("/?q=policies+reliability+depth+integer+queue")
    reader.hits.first.get_by_role("button", name="Show all").click()
    table = reader.hits.first.locator("table")
    assert table.locator("th").all_inner_texts() == ["Policy", "Values", "Meaning"]
    expect(table.locator("td code").first).to_have_text("RELIABLE")
    reader.open("/?q=talker+create_publisher+topic")
    reader.hits.first.get_by_role("button", name="Show all").click()
    expect(reader.page.locator("pre code", has_text="class Talker(Node):")).to_be_visible()


def test_context_shows_neighbours_without_moving_the_passage(visit: Visit) -> None:
    reader = visit(viewport={"width": 1100, "height": 300})
    reader.open("/?q=service+answers+a+request+for+each+call")
    hit = reader.hits.first
    passage = hit.locator(".passage")
    expect(passage).to_contain_text("A service answers a request")
    button = hit.get_by_role("button", name="Context")
    button.scroll_into_view_if_needed()
    where = passage.bounding_box()
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(hit.locator(".before")).to_contain_text("Nodes publish messages on topics")
    expect(hit.locator(".before .section-name").last).to_have_text("Topics")
    expect(hit.locator(".after")).to_contain_text("A managed node is configured")
    expect(hit.locator(".after .section-name").first).to_have_text("Lifecycle")
    now = passage.bounding_box()
    assert where is not None
    assert now is not None
    # Inside a frame that sets it off from its neighbours, but at the same height.
    assert abs(now["y"] - where["y"]) < 1
    button.click()
    expect(hit.locator(".before")).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")


def test_context_extends_on_one_side(reader: Reader) -> None:
    reader.open("/?q=service+answers+a+request+for+each+call")
    hit = reader.hits.first
    hit.get_by_role("button", name="Context").click()
    expect(hit.locator(".after .neighbour")).to_have_count(1)
    hit.get_by_role("button", name="Further down").click()
    expect(hit.locator(".after .neighbour")).to_have_count(2)
    expect(hit.locator(".after")).to_contain_text("The page ends here.")
    expect(hit.locator(".before .neighbour")).to_have_count(1)
    expect(hit.get_by_role("button", name="Context")).to_be_focused()
    hit.get_by_role("button", name="Further up").click()
    expect(hit.locator(".before .neighbour").first).to_contain_text("A node is a process")
    expect(hit.locator(".before")).to_contain_text("The page begins here.")


def test_context_shows_where_the_page_begins_and_ends(reader: Reader) -> None:
    reader.open("/?q=rigid+piece+mass+inertia+link")
    hit = reader.hits.first
    hit.get_by_role("button", name="Context").click()
    expect(hit.locator(".before")).to_contain_text("The page begins here.")
    expect(hit.locator(".after")).to_contain_text("The page ends here.")


def test_failed_context_can_be_retried(reader: Reader) -> None:
    reader.expected_errors.append("503")
    reader.open("/?q=friction")
    failing = "**/api/v1/chunks/**"
    reader.page.route(failing, lambda route: route.fulfill(status=503, json={"error": "x", "message": "x"}))
    button = reader.hits.first.get_by_role("button", name="Context")
    button.click()
    expect(reader.hits.first.get_by_role("alert")).to_have_text("The context could not be loaded.")
    reader.page.unroute(failing)
    button.click()
    expect(reader.hits.first.locator(".before")).to_be_visible()
    expect(reader.hits.first.get_by_role("alert")).to_have_count(0)


def test_copy_citation_writes_to_the_clipboard(reader: Reader) -> None:
    reader.open("/?q=friction+joint")
    button = reader.hits.first.locator("[data-act=copy]")
    button.click()
    expect(button).to_have_text("Copied")
    assert reader.js("navigator.clipboard.readText()") == f"[Joints › Friction]({SITE}/body/joints#friction)"
    expect(reader.page.locator("#announcer")).to_contain_text("Copied: [Joints › Friction]")
    expect(button).to_have_text("Copy as Markdown citation", timeout=4000)


def test_copy_link_writes_the_address_to_the_clipboard(reader: Reader) -> None:
    reader.open("/?q=friction+joint")
    button = reader.hits.first.get_by_role("button", name="Copy link")
    button.focus()
    reader.page.keyboard.press("Enter")
    expect(reader.hits.first.locator("[data-act=link]")).to_have_text("Copied")
    assert reader.js("navigator.clipboard.readText()") == f"{SITE}/body/joints#friction"
    expect(reader.hits.first.locator("[data-act=link]")).to_have_text("Copy link", timeout=4000)


def test_markdown_citation_escapes_what_would_end_the_link(reader: Reader) -> None:
    metadata = {
        "document_title": "Arrays [and *lists*]",
        "section": "push()",
        "url": "https://robots.example/a_(b)",
        "anchor": "push",
    }
    script = """async (metadata) => (await import("/static/citation.js")).formatMarkdownCitation(metadata)"""
    expected = r"[Arrays \[and \*lists\*\] › push()](https://robots.example/a_%28b%29#push)"
    assert reader.js(script, metadata) == expected


def copy_without_clipboard(visit: Visit, script: str) -> Reader:
    """Copy the first citation in a browser without the clipboard API."""
    reader = visit()
    no_clipboard = "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
    reader.page.add_init_script(no_clipboard + script)
    reader.open("/?q=friction+joint")
    reader.hits.first.locator("[data-act=copy]").click()
    return reader


def test_copy_citation_without_clipboard_api_copies_a_selection(visit: Visit) -> None:
    record = "document.addEventListener('copy', () => { window.copied = document.activeElement.value; });"
    reader = copy_without_clipboard(visit, record)
    button = reader.hits.first.locator("[data-act=copy]")
    expect(button).to_have_text("Copied")
    assert reader.js("window.copied") == f"[Joints › Friction]({SITE}/body/joints#friction)"
    expect(button).to_be_focused()


def test_copy_citation_falls_back_to_a_text_field(visit: Visit) -> None:
    reader = copy_without_clipboard(visit, "document.execCommand = () => false;")
    field = reader.hits.first.get_by_label("Citation, to copy by hand")
    expect(field).to_be_focused()
    expect(field).to_have_value(f"[Joints › Friction]({SITE}/body/joints#friction)")


def test_hit_without_scores_and_section_is_shown(reader: Reader) -> None:
    metadata = {
        "url": "notes:robots", "section": "", "anchor": "", "document_id": "n", "document_title": "Notes",
    }  # fmt: skip
    bare = {"chunk_id": "n-1", "content": "Robots.", "similarity_score": 0.5, "metadata": metadata}
    bare["scores"] = {"cosine": None, "lexical": None}
    answer = {"results": [bare], "nearest": [], "warnings": [], "status": "success", "query_time_ms": 0.4}
    reader.page.route("**/api/v1/search", lambda route: route.fulfill(json=answer))
    reader.open("/?q=robots")
    hit = reader.hits.first
    expect(hit.locator(".passage-link")).to_have_text("Notes › Top of the page")
    expect(hit.get_by_role("link")).to_have_count(0)
    expect(hit.locator(".tools .location")).to_have_text("notes:robots")
    expect(hit.locator(".bar")).to_have_count(0)
    expect(reader.status).to_have_text("1 passage on 1 page · 1 ms")


PROSE = " ".join(f"Sentence {number} is about the calibration of an arm." for number in range(30))
CODE = "\n".join(["```js title='arm.js'", *(f"const a{n} = {n}; // {'x' * 150}" for n in range(30)), "```"])


TABLE = "\n".join(
    ["| Name | Meaning |", "| --- | --- |", *(f"| `a{n}` | Row {n} of the table |" for n in range(30))]
)
LIST = "\n".join(f"- Item {n} of the list" for n in range(30))
LONG_PASSAGES = {"prose": PROSE, "code": CODE, "table": TABLE, "list": LIST}


def show_long_hits(reader: Reader, passage: str, query: str) -> None:
    """Search six pages with a long passage each."""

    def answer(route: Route) -> None:
        body: dict[str, int] = json.loads(route.request.post_data or "")
        text, highlights = make_snippet(passage, query, Analyzer("english"), body["snippet_length"])
        results = [
            {
                "chunk_id": f"n-{number}",
                "content": passage,
                "snippet": text,
                "highlights": highlights,
                "similarity_score": 0.5,
                "scores": {"cosine": 0.5, "lexical": 0.5},
                "metadata": {
                    "url": f"{SITE}/arm-{number}",
                    "section": "Calibration",
                    "anchor": "calibration",
                    "document_id": f"n{number}",
                    "document_title": f"Arm {number}",
                },
            }
            for number in range(6)
        ]
        route.fulfill(
            json={"results": results, "nearest": [], "warnings": [], "status": "success", "query_time_ms": 1}
        )

    reader.page.route("**/api/v1/search", answer)
    reader.open(f"/?q={query.replace(' ', '+')}")
    expect(reader.hits).to_have_count(6)


@pytest.mark.parametrize(
    ("width", "height", "count"),
    [(1920, 950, 5), (1440, 900, 5), (1280, 800, 5), (390, 844, 3)],
    ids=["desktop", "large laptop", "laptop", "phone"],
)
@pytest.mark.parametrize(
    ("kind", "query"), [("prose", "sentence 20"), ("code", "a20"), ("table", "row 20"), ("list", "item 20")]
)
def test_several_long_hits_fit_on_a_screen(
    visit: Visit, width: int, height: int, count: int, kind: str, query: str
) -> None:
    reader = visit(viewport={"width": width, "height": height})
    show_long_hits(reader, LONG_PASSAGES[kind], query)
    passages = reader.page.locator(".passage").evaluate_all(
        "all => all.map((passage) => passage.getBoundingClientRect().bottom)"
    )
    assert passages[count - 1] <= height


def test_hit_shows_its_best_lines_and_all_of_them_on_a_click(reader: Reader) -> None:
    show_long_hits(reader, PROSE, "sentence 20")
    hit = reader.hits.first
    passage = hit.locator(".passage")
    expect(passage).to_contain_text("Sentence 20 is about")
    expect(passage).not_to_contain_text("Sentence 0 is about")
    button = hit.get_by_role("button", name="Show all")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.focus()
    reader.page.keyboard.press("Enter")
    expect(passage).to_contain_text("Sentence 0 is about")
    expect(passage).to_contain_text("Sentence 29 is about")
    button = hit.get_by_role("button", name="Show less")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(button).to_be_focused()
    button.click()
    expect(passage).not_to_contain_text("Sentence 0 is about")
    hit.locator(".passage-link").focus()
    reader.page.keyboard.press("a")
    expect(passage).to_contain_text("Sentence 0 is about")


@pytest.mark.parametrize(("height", "lines"), [(500, 3), (900, 4), (1200, 7), (2000, 8)])
def test_snippet_has_as_many_lines_as_fit_five_times_but_at_most_eight(
    visit: Visit, height: int, lines: int
) -> None:
    reader = visit(viewport={"width": 1440, "height": height})
    show_long_hits(reader, LIST, "item 20")
    expect(reader.hits.first.locator("li")).to_have_count(lines)
    expect(reader.hits.first.locator("li", has_text="Item 20 ")).to_have_count(1)


@pytest.mark.parametrize("width", [390, 1100, 1440])
def test_headings_above_a_section_are_cut_before_its_own_heading(visit: Visit, width: int) -> None:
    reader = visit(viewport={"width": width, "height": 844})
    section = f"{'A very long heading ' * 8}› Another › Limits of a joint"

    def rename_sections(answer: dict[str, Any]) -> None:
        for result in answer["results"]:
            result["metadata"]["section"] = section

    reader.change_answers(rename_sections)
    reader.open("/?q=friction+joint")
    hit = reader.hits.first
    expect(hit.get_by_role("link", name=f"Joints › {section}")).to_be_visible()
    own, above = hit.locator(".own-heading"), hit.locator(".headings-above")
    expect(own).to_have_text("Limits of a joint")
    assert own.evaluate("own => own.getBoundingClientRect().height") < 30
    assert above.evaluate("above => above.scrollWidth > above.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_coloured_code_has_enough_contrast(visit: Visit, scheme: str) -> None:
    reader = visit(color_scheme=scheme, viewport={"width": 1440, "height": 2000})
    code = "# note\nimport a from 'b' # c\n@d\nclass E(F):\n    def g(self, h=1.5): return None"
    show_long_hits(reader, f"```python\n{code}\n```", "class")
    expect(reader.hits.first.locator(".hljs-keyword").first).to_be_visible()
    assert reader.js(CONTRAST) == []
    show_long_hits(reader, "```diff\n-old\n+new\n@@ 1 @@\n```\n\n```css\n.a #b { c: 1px }\n```", "new")
    expect(reader.hits.first.locator(".hljs-deletion").first).to_be_visible()
    assert reader.js(CONTRAST) == []


def test_short_passage_has_no_button_to_show_all(reader: Reader) -> None:
    reader.open("/?q=friction+joint")
    expect(reader.hits.first.get_by_role("button", name="Show all")).to_have_count(0)


def test_snippet_of_code_is_drawn_as_code_that_scrolls(reader: Reader) -> None:
    show_long_hits(reader, CODE, "a20")
    code = reader.hits.first.locator(".passage pre")
    expect(code).to_have_count(1)
    expect(code.locator("mark").first).to_have_text("a20")
    expect(reader.hits.first.get_by_role("region", name="Code, scrolls sideways")).to_have_count(1)
    reader.hits.first.get_by_role("button", name="Show all").click()
    expect(reader.hits.first.get_by_role("region", name="Code, scrolls sideways")).to_have_count(1)


def test_snippet_shows_where_code_is_cut_beside_the_code(reader: Reader) -> None:
    show_long_hits(reader, CODE, "a20")
    box = reader.hits.first.locator(".passage pre")
    assert box.locator("> *").evaluate_all("all => all.map((part) => part.className)") == ["cut", "", "cut"]
    expect(box.locator("code")).not_to_contain_text("…")
    cut, code = (part.bounding_box() for part in box.locator("> *").all()[:2])
    assert cut is not None
    assert code is not None
    assert cut["height"] < 10


def test_code_is_coloured_by_its_language_with_the_words_marked(reader: Reader) -> None:
    show_long_hits(reader, CODE, "a20")
    code = reader.hits.first.locator(".passage pre code")
    expect(code.locator(".hljs-keyword").first).to_have_text("const")
    expect(code.locator(".hljs-comment").first).to_contain_text("// xxx")
    expect(code.locator("mark").first).to_have_text("a20")
    colours = code.locator(".hljs-keyword, .hljs-comment").evaluate_all(
        "all => new Set(all.map((token) => getComputedStyle(token).color)).size"
    )
    assert colours == 2
    # The row of tools scrolls on a phone; code scrolls everywhere.
    assert code.locator("..").evaluate("box => box.scrollWidth > box.clientWidth")


def test_code_is_plain_if_the_highlighter_can_not_be_loaded(visit: Visit) -> None:
    reader = visit()
    reader.expected_errors.append("404")
    reader.page.route("**/static/vendor/*", lambda route: route.fulfill(status=404))
    show_long_hits(reader, CODE, "a20")
    code = reader.hits.first.locator(".passage pre code")
    expect(code).to_contain_text("const a20 = 20;")
    expect(code.locator("span")).to_have_count(0)


def test_words_that_the_service_marked_are_highlighted(reader: Reader) -> None:
    show_long_hits(reader, "Call createNativeArm() first.", "native")
    expect(reader.hits.first.locator(".passage mark")).to_have_text("createNativeArm")


def test_context_shows_the_whole_passage(reader: Reader) -> None:
    show_long_hits(reader, PROSE, "sentence 20")
    neighbours = {"chunks": [{"chunk_id": "n-0", "content": PROSE, "section": "Calibration"}]}
    reader.page.route("**/api/v1/chunks/**", lambda route: route.fulfill(json=neighbours))
    hit = reader.hits.first
    hit.get_by_role("button", name="Context").click()
    expect(hit.locator(".before")).to_contain_text("The page begins here.")
    expect(hit.locator(".passage")).to_contain_text("Sentence 0 is about")


def test_examples_are_long_pages_near_the_root_of_different_parts(bench: Reader) -> None:
    documents = [
        {"title": "Deep", "url": f"{SITE}/api/v2/deep", "chunks": 90},
        {"title": "Long", "url": f"{SITE}/api/long", "chunks": 80},
        {"title": "Short", "url": f"{SITE}/short", "chunks": 1},
        {"title": "Configuration", "url": f"{SITE}/configuration", "chunks": 30},
        {"title": "CLI", "url": f"{SITE}/cli", "chunks": 40},
        {"title": "A title of more than forty-four characters, to be sure", "url": SITE, "chunks": 99},
        {"title": "Blog posts", "url": f"{SITE}/blog", "chunks": 20},
    ]
    script = (
        """async ([documents, count]) => (await import("/static/parts.js")).pickExamples(documents, count)"""
    )
    assert bench.js(script, [documents, 3]) == ["Long", "Configuration", "Deep"]
    assert bench.js(script, [documents, 6])[3:] == ["Blog posts", "Short", documents[5]["title"]]
    assert bench.js(script, [[], 3]) == []

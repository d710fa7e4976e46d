from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.markdown.jsx import parse_string, scan_expression, scan_tag, split_html
from pertinent.sources.markdown.search_limits import SearchLimits


@pytest.mark.parametrize(
    ("source", "name", "kind"),
    [
        ("<Tabs>", "Tabs", "open"),
        ("</Tabs>", "Tabs", "close"),
        ("</ Tabs >", "Tabs", "close"),
        ("<br/>", "br", "self"),
        ("<br />", "br", "self"),
        ("<>", "", "open"),
        ("</>", "", "close"),
        ("<Foo.Bar x />", "Foo.Bar", "self"),
        ("<my-element a='>' b=\"/>\">", "my-element", "open"),
        ("<A onClick={() => { if (a > b) { c('}') } }} >", "A", "open"),
        ("<A {...props} b={`x${y}`}/>", "A", "self"),
        ("<A\n  b={[\n    {label: 'It\\'s', value: \"}\"},\n  ]}\n>", "A", "open"),
        ("<a href=https://x.y/z>", "a", "open"),
        ("<img src=a.png/>", "img", "self"),
    ],
)
def test_scan_tag_finds_the_end_of_a_tag(source: str, name: str, kind: str) -> None:
    tag = scan_tag(source + " rest", 0, len(source) + 5)
    assert tag is not None
    assert (tag.name, tag.kind, tag.end) == (name, kind, len(source))


@pytest.mark.parametrize(
    "source", ["< 5", "<5>", "<", "<a", "<a b={", "<https://x.y>", "<a@b.c>", "<-", "<a b='"]
)
def test_scan_tag_returns_none_for_text(source: str) -> None:
    assert scan_tag(source, 0, len(source)) is None


def test_scan_tag_reads_literal_attributes() -> None:
    tag = scan_tag("<T a=\"x &amp; y\" b='z' c={'q'} d={e} f g={`h`} />", 0, 60)
    assert tag is not None
    assert tag.attributes == {"a": "x & y", "b": "z", "c": "q", "d": None, "f": None, "g": "h"}


@pytest.mark.parametrize(
    "source",
    [
        "{a}",
        "{{a: 1}}",
        "{'}'}",
        '{"}"}',
        "{`}${'}'}`}",
        "{/* } */}",
        "{// }\n}",
        "{<p>Don't</p>}",
        "{[(1)]}",
    ],
)
def test_scan_expression_ends_at_its_own_brace(source: str) -> None:
    assert scan_expression(source + "}", 0, len(source) + 1) == len(source)


@pytest.mark.parametrize("source", ["{", "{a", "{(}", "{'a}'"])
def test_scan_expression_returns_none_if_it_never_closes(source: str) -> None:
    assert scan_expression(source, 0, len(source)) is None


def test_template_that_never_closes_begins_with_a_plain_character() -> None:
    assert scan_expression("{a ` b}", 0, 7) == 7


def test_nested_templates_are_scanned_in_one_pass() -> None:
    """Trying each of them as a template and as a character would never end."""
    source = "{" + "`${" * 5000
    assert scan_expression(source, 0, len(source)) is None
    assert scan_expression(source + "}`" * 5000 + "}", 0, 6 * 5000) == 5 * 5000 + 2


@pytest.mark.parametrize("source", ["{a", "<A b={a", "<A b=", "<A b='c", "<A /* b", "</A /* b", "< a"])
def test_constructs_that_never_close_use_up_the_limit_of_a_page(source: str) -> None:
    limits = SearchLimits(characters=1)
    scan = scan_expression if source.startswith("{") else scan_tag
    assert scan(source, 0, len(source), limits) is None
    assert limits.characters <= 0
    assert scan_expression("{a}", 0, 3, limits) is None
    assert scan_tag("<A>", 0, 3, limits) is None
    assert list(split_html("<A>", limits)) == ["<A>"]


def test_tags_and_expressions_that_close_use_up_nothing() -> None:
    limits = SearchLimits(characters=1)
    assert scan_tag("<A b={c} />", 0, 11, limits) is not None
    assert scan_expression("{a}", 0, 3, limits) == 3
    assert limits == SearchLimits(characters=1)


def test_escaped_quotes_begin_no_string() -> None:
    source = "{" + '\\"' * 50_000 + "}"
    assert scan_expression(source, 0, len(source)) == len(source)


def test_number_of_thousands_of_digits_is_no_character() -> None:
    tag = scan_tag(f"<A b='&#{'1' * 5000}; &#065;'>", 0, 6000)
    assert tag is not None
    assert tag.attributes == {"b": "\ufffd A"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'a'", "a"),
        ('"it\'s"', "it's"),
        ("' '", " "),
        ("`a\nb`", "a\nb"),
        ("'\\u007B\\x41\\n\\''", "{A\n'"),
        ("'a' + b", None),
        ("`${a}`", None),
        ("a", None),
        ("/* c */", None),
        ("", None),
    ],
)
def test_parse_string_reads_only_plain_strings(source: str, expected: str | None) -> None:
    assert parse_string(source) == expected


def test_split_html_yields_tags_and_text() -> None:
    parts = list(split_html("<p>a &lt; b<!-- no --> 1 < 2</p>", SearchLimits()))
    expected = ["", "p", "a < b", " 1 < 2", "p", ""]
    assert [part if isinstance(part, str) else part.name for part in parts] == expected


@given(st.text(alphabet="<>{}/ab='\"`$\\*\n -!", max_size=60))
def test_scanning_never_passes_the_end_of_the_text(text: str) -> None:
    for position in range(len(text)):
        tag = scan_tag(text, position, len(text))
        close = scan_expression(text, position, len(text))
        assert tag is None or position < tag.end <= len(text)
        assert close is None or position < close <= len(text)

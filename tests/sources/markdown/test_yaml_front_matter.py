from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.markdown.yaml_front_matter import (
    FrontMatterError,
    bool_field,
    describe_page,
    split_front_matter,
    text_field,
)
from pertinent.types import FrontMatter


def test_front_matter_is_split_from_the_text() -> None:
    assert split_front_matter("---\ntitle: A\n---\n\ntext\n") == ({"title": "A"}, "\ntext\n")


@pytest.mark.parametrize("text", ["text", "", "----\na: b\n----\n", " ---\na: b\n---\n", "-- \n"])
def test_front_matter_may_be_missing(text: str) -> None:
    assert split_front_matter(text) == ({}, text)


def test_front_matter_without_content_has_no_fields() -> None:
    assert split_front_matter("---\n---\nx") == ({}, "x")
    assert split_front_matter("---\n# only a comment\n---\nx") == ({}, "x")


def test_front_matter_reads_yes_no_and_times_as_text() -> None:
    fields, _ = split_front_matter(
        "---\ntitle: No\nlabel: yes\nslug: 12:30\ndraft: true\nversion: 1.10\nid: ~\nn: 007\n---\n"
    )
    assert fields["title"] == "No"
    assert fields["label"] == "yes"
    assert fields["slug"] == "12:30"
    assert fields["draft"] is True
    assert fields["id"] is None


@pytest.mark.parametrize(
    "block",
    [
        "a: : b",
        "a: [1",
        "- a\n- b",
        "just words",
        "a: 1\na: 2",
        "\tb: 1",
        "title: 'x",
        "a: !!python/name:os.system",
    ],
)
def test_front_matter_that_is_not_valid_yaml_is_refused(block: str) -> None:
    with pytest.raises(FrontMatterError):
        split_front_matter(f"---\n{block}\n---\ntext")


def test_front_matter_error_names_the_line() -> None:
    with pytest.raises(FrontMatterError, match=r"line 3"):
        split_front_matter("---\ntitle: ok\nslug: a: b\n---\n")


def test_front_matter_in_another_language_is_refused() -> None:
    with pytest.raises(FrontMatterError, match="toml"):
        split_front_matter("---toml\na = 1\n---\n")
    assert split_front_matter('---json\n{"title": "J"}\n---\nx')[0] == {"title": "J"}


def test_front_matter_that_never_closes_runs_to_the_end() -> None:
    assert split_front_matter("---\ntitle: A\n") == ({"title": "A"}, "")
    with pytest.raises(FrontMatterError):
        split_front_matter("---\n\nA page that begins with a rule.\n")


def test_text_field_accepts_numbers_and_refuses_lists() -> None:
    assert text_field({"id": 5}, "id") == "5"
    assert text_field({}, "id") is None
    with pytest.raises(FrontMatterError, match="'id'"):
        text_field({"id": ["a"]}, "id")


def test_describe_page_reads_description_keywords_tags_and_label() -> None:
    block = "description: A  page\nkeywords: [a, 2]\ntags: [x, {label: Y z, permalink: /y}]"
    fields, _ = split_front_matter(f"---\n{block}\nsidebar_label: Short\n---\n")
    assert describe_page(fields) == FrontMatter("A page", ("a", "2"), ("x", "Y z"), "Short")
    assert describe_page({"keywords": "a, b c"}).keywords == ("a", "b c")


@given(
    st.dictionaries(
        st.sampled_from(["description", "keywords", "tags", "sidebar_label"]), st.from_type(object)
    )
)
def test_describe_page_leaves_out_what_is_not_text(fields: dict[str, object]) -> None:
    assert isinstance(describe_page(fields), FrontMatter)
    assert (
        describe_page({"description": [1], "keywords": {"a": 1}, "tags": [None, [], True]}) == FrontMatter()
    )


def test_bool_field_must_be_true_or_false() -> None:
    assert bool_field({"draft": "true"}, "draft")
    assert not bool_field({}, "draft")
    with pytest.raises(FrontMatterError, match="'draft'"):
        bool_field({"draft": "yes"}, "draft")


@given(st.text())
def test_front_matter_of_any_text_is_split_or_refused(text: str) -> None:
    try:
        split_front_matter("---\n" + text)
    except FrontMatterError:
        return


@pytest.mark.parametrize("nested", ["tags: " + "[" * 200_000, "- " * 100_000, "a: " + "{a: " * 100_000])
def test_front_matter_nested_too_deeply_is_refused(nested: str) -> None:
    with pytest.raises(FrontMatterError, match="nested more than 100 deep"):
        split_front_matter(f"---\n{nested}\n---\n")


def test_merge_keys_that_double_are_refused() -> None:
    levels = [f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    with pytest.raises(FrontMatterError, match="merge keys expand to more than 100000 fields"):
        split_front_matter("---\na0: &a0 {k: 1}\n" + "\n".join(levels) + "\n---\n")


@pytest.mark.parametrize("value", ["!!bool maybe", "!!timestamp soon", "!!int many"])
def test_value_that_does_not_fit_its_tag_is_refused(value: str) -> None:
    with pytest.raises(FrontMatterError, match="not valid YAML"):
        split_front_matter(f"---\nflag: {value}\n---\n")


def test_blank_lines_in_front_matter_take_little_time() -> None:
    begun = time.process_time()
    split_front_matter("---\n" + "  \n" * 50_000 + "title: x\n---\n")
    assert time.process_time() - begun < 5


def test_field_errors_do_not_expand_yaml_aliases() -> None:
    levels = [
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefghijk", "bcdefghijkl", strict=True)
    ]
    fields, _ = split_front_matter("---\na: &a [x]\n" + "\n".join(levels) + "\ntitle: *l\ndraft: *l\n---\n")
    for read_field, name in ((text_field, "title"), (bool_field, "draft")):
        with pytest.raises(FrontMatterError) as error:
            read_field(fields, name)
        assert len(str(error.value)) < 100


@pytest.mark.parametrize("field", ["keywords", "tags"])
def test_describe_page_does_not_copy_yaml_aliases(field: str) -> None:
    block = f"long: &a {'a b ' * 10_000}\n{field}: [{', '.join(['*a', '{label: *a}'] * 1_000)}]"
    fields, _ = split_front_matter(f"---\n{block}\n---\n")
    tracemalloc.start()
    try:
        describe_page(fields)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(block)


@pytest.mark.parametrize("value", ["08", "09", "+08", "0_8", "08.5", "2024-02-30", "2024-13-45"])
def test_value_that_is_no_number_or_date_is_text(value: str) -> None:
    fields, _ = split_front_matter(f"---\nvalue: {value}\n---\n")
    assert fields == {"value": value}


@pytest.mark.parametrize(
    "number", ["0" + "7" * 5000, "!!int " + "1:" * 3000 + "1", "!!float " + "1:" * 200 + "1"]
)
def test_very_long_number_is_text(number: str) -> None:
    fields, _ = split_front_matter(f"---\ntitle: {number}\n---\n")
    assert text_field(fields, "title") == number.rpartition(" ")[2]

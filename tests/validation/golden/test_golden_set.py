"""Golden files: the round trip, and errors with their positions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import InvalidFile, InvalidInput
from pertinent.validation.criteria import Criteria, merge_criteria
from pertinent.validation.golden.golden_set import (
    HOW_TO_START,
    GoldenQuery,
    GoldenSet,
    Label,
    dump_golden,
    fingerprint_golden,
    json_schema,
    load_golden_file,
    parse_golden,
)

from .strategies import IN_ONE_FOLDER, TEXTS, queries_strategy

texts = TEXTS | st.sampled_from(
    [
        "no", "1", "~", "null", "2025-12-14", "- a", "a: b", "# c", "a\n\n  b\n", " a ", "\t", "…", "'",
        "&a", "<<",
    ]
)  # fmt: skip
shares = st.floats(0, 1)
golden_sets = st.builds(
    GoldenSet,
    name=texts,
    description=st.none() | texts,
    unit=st.sampled_from(["passage", "page"]),
    answer_threshold=shares,
    criteria=st.builds(
        Criteria, mrr=shares, at_least=st.dictionaries(texts, shares, max_size=2), strict=st.booleans()
    ),
    queries=queries_strategy(texts),
)

GOOD = """\
queries:
- id: a
  text: What is a node?
  labels:
  - {page: docs/nodes.md, grade: 2}
- id: b
  text: What is a topic?
  labels:
  - page: docs/topics.md
    grade: 1
"""


def error_of(content: str, name: str = "set.yaml") -> str:
    with pytest.raises(InvalidInput) as caught:
        parse_golden(content, name)
    message = str(caught.value)
    assert message.startswith(f"golden: {name}")
    return message


class TestRoundTrip:
    @IN_ONE_FOLDER
    @given(golden_set=golden_sets, ending=st.sampled_from(["yaml", "yml", "json"]))
    def test_dump_is_loaded_the_same(self, tmp_path: Path, golden_set: GoldenSet, ending: str) -> None:
        path = tmp_path / f"set.{ending}"
        dump_golden(golden_set, path)
        assert load_golden_file(path) == golden_set
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    def test_dump_leaves_defaults_out(self, tmp_path: Path) -> None:
        golden_set = parse_golden(GOOD, "set.yaml")
        dump_golden(golden_set, tmp_path / "set.yaml")
        assert (
            (tmp_path / "set.yaml")
            .read_text()
            .startswith(
                "version: 1\nname: golden\nqueries:\n  - text: What is a node?\n    id: a\n    labels:\n"
            )
        )

    @pytest.mark.parametrize("name", ["set.yaml", "set.json"])
    def test_dump_keeps_criteria_that_override_the_settings(self, tmp_path: Path, name: str) -> None:
        golden_set = GoldenSet(criteria=Criteria(mrr=0.7), queries=(GoldenQuery(text="a"),))
        dump_golden(golden_set, tmp_path / name)
        settings = {"mrr": 0.2, "precision_at_5": 0.1}
        merged = merge_criteria(settings, load_golden_file(tmp_path / name).criteria)
        assert (merged.mrr, merged.precision_at_5) == (0.7, 0.1)

    def test_schema_names_every_field(self) -> None:
        schema = json.loads(json.dumps(json_schema()))
        assert {*schema["properties"]} == {*GoldenSet.model_fields}
        assert {*schema["$defs"]["Label"]["properties"]} == {*Label.model_fields}


class TestErrors:
    @pytest.mark.parametrize(
        ("valid", "invalid", "expected"),
        [
            ("grade: 1", "grade: 3", "query b.labels.0.grade: must be at most 2"),
            ("grade: 1", "grade: -1", "query b.labels.0.grade: "),
            ("grade: 1", "grade: true", "query b.labels.0.grade: must be a whole number"),
            ("grade: 1", "grade: 1.0", "query b.labels.0.grade: must be a whole number"),
            ("grade: 1", 'grade: "1"', "query b.labels.0.grade: must be a whole number"),
            ("grade: 1", "grade: .nan", "query b.labels.0.grade: "),
            ("grade: 1", "colour: red", "line 10, column 5: query b.labels.0.colour: there is no such field"),
            (
                "text: What is a t",
                "lables: t",
                "line 7, column 3: query b.lables: there is no such field; did",
            ),
            (
                "- page: docs/topics.md\n    ",
                "- ",
                "query b.labels.0: a label needs a page, a url or a chunk",
            ),
            ("page: docs/topics.md", "url: http://[", "query b.labels.0.url: "),
            ("grade: 1", "quote: ' … '", "query b.labels.0.quote: must not be empty"),
            ("grade: 1", 'quote: "\\n\\t"', "query b.labels.0.quote: must not be empty"),
            ("grade: 1", "quote: # a comment", "line 10, column 11: quote has no value; remove the key, or"),
            ("grade: 1", "anchor: #qos", "line 10, column 12: anchor has no value; remove the key, or write"),
            ("grade: 1", "anchor: '#'", "query b.labels.0.anchor: must not be empty"),
            ("grade: 1", "anchor: ' '", "query b.labels.0.anchor: must not be empty"),
            (
                "- page: docs/topics.md",
                "- url: https://x.org/a#\n     ",
                "labels.0.url: has no anchor after its #",
            ),
            (
                "- page: docs/topics.md\n    grade: 1",
                "- docs/topics.md#",
                "labels.0.anchor: must not be empty",
            ),
            ("grade: 1", "span: [5, 5]", "query b.labels.0.span: must be"),
            ("grade: 1", "span: [-1, 5]", "query b.labels.0.span: must be"),
            ("id: b", "id: a", "line 6, column 7: query a: line 2 has the same id"),
            ("id: b", "id: ''", "query 2.id: must not be empty"),
            ("id: b", f"id: {'b' * 101}", ".id: has 101 characters; it must have at most 100"),
            ("id: b", "id: no", "query 2.id: must be text, but is read as False; write it in quotes"),
            ("id: b", "id: yes", "query True.id: must be text, but is read as True; write it in quotes"),
            ("id: b", "id: 12", "query 12.id: must be text, but is read as 12; write it in quotes"),
            ("id: b", "id: 2025-12-14", "must be text, but is read as 2025-12-14; write it in quotes"),
            ("id: b", "id: 2025-13-45", "line 6, column 7: month must be in 1..12"),
            ("id: b", "id:", "line 6, column 6: id has no value; remove the key, or write its value in"),
            ("- id: b", "- 7\n- id: b", "query 2: must be an object with named fields"),
            ("id: b", "id: b\n  top_k: 0", "query b.top_k: "),
            ("id: b", "id: b\n  query_type: odd", "query b.query_type: "),
            ("id: b", "id: b\n  answerable: false", "query b: answerable is false, but a label with a grade"),
            ("id: b", "id: b\n  expected_criteria: {min_score: .nan}", "b.expected_criteria.min_score"),
            ("id: b", "id: b\n  expected_criteria: {min_score: .inf}", "b.expected_criteria.min_score"),
            ("id: b", "id: b\n  id: c", "line 7, column 3: id is already in line 6"),
            ("queries:", "queries: []\nqueries:", "line 2, column 1: queries is already in line 1"),
            ("queries:", "queires:", "queries: must be given"),
            ("queries:", "version: 2\nqueries:", "version: must be 1, not 2"),
            ("queries:", "answer_threshold: .nan\nqueries:", "answer_threshold: "),
            ("queries:", "criteria: {mrr: 2}\nqueries:", "criteria.mrr: "),
            ("id: b", "id: [b", "line 7, column 7: did not find expected ',' or ']' (while parsing a flow"),
            ("id: b", "id: *nowhere", "line 6, column"),
            ("id: b", "id: !!python/object:os.system b", "line 6, column"),
            ("id: b", "id: !!bool maybe", "line 6, column 7: the value does not fit its tag"),
            ("id: b", "id: !!timestamp soon", "line 6, column 7: the value does not fit its tag"),
            ("id: b", "id: \x07", "line 6, column 7: control characters are not allowed"),
        ],
    )
    def test_error_names_query_field_and_line(self, valid: str, invalid: str, expected: str) -> None:
        assert GOOD.count(valid) == 1
        assert expected in error_of(GOOD.replace(valid, invalid))

    def test_key_without_a_value_is_one_error(self) -> None:
        assert error_of(GOOD.replace("id: b", "id:")).count("\n") == 0

    def test_fields_that_are_null_are_absent(self) -> None:
        """Programs write every field; `null` is no accident, unlike a text that YAML takes for a comment."""
        label = (
            parse_golden(GOOD.replace("grade: 1", "anchor: null\n    quote: ~"), "set.yaml").queries[1].labels
        )
        assert label == (Label(page="docs/topics.md"),)

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("", "has no queries; to start one, write `queries: ["),
            ("# questions\n", "has no queries; to start one"),
            ("{}", "has no queries; to start one"),
            ("queries:\n", "has no queries; to start one"),
            ("- a\n- b\n", "is not a golden set"),
            ("just words", "is not a golden set"),
            ("queries: []", "has no queries; to start one"),
            ("queries: a", "queries: must be a list"),
            ("? [a]\n: b\n", "a key must be text"),
            ("queries: " + "[" * 200_000, "nested more than 100 deep"),
            ("- " * 100_000, "nested more than 100 deep"),
            ("queries: " + "{a: " * 100_000, "nested more than 100 deep"),
            (
                "queries:\n- text: QoS: what?\n",
                "column 12: mapping values are not allowed in this context; write",
            ),
            (
                "queries:\n- text: @mentions\n",
                "token that begins in line 2, column 9); write the text in quotes",
            ),
        ],
    )
    def test_yaml_that_is_no_golden_set_is_refused(self, content: str, expected: str) -> None:
        assert expected in error_of(content)

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ('{"queries": [\n{"id": "a",}]}', "line 2, column 12: "),
            (
                '{"queries": [{"id": "a", "id": "b", "text": "?"}]}',
                "line 1, column 26: id is already in line 1",
            ),
            ('{"queries": [{"id": 1, "text": "?"}]}', "query 1.id: must be text, but is read as 1"),
            (
                '{"queries": [{"id": "a", "text": "?", "expected_criteria": {"min_score": NaN}}]}',
                "query a.expected_criteria.min_score: ",
            ),
            ("[" * 100_000, "is nested more than 100 deep"),
            ("1" * 5000, "Exceeds the limit"),
            (f'{{"queries": {"[" * 150}{"]" * 150}}}', "is nested more than 100 deep"),
            (
                '{"queries": [{"text": "a",\n"note": "\\ud800"}]}',
                "line 2, column 9: contains half of a surrogate",
            ),
            ("[]", "is not a golden set"),
        ],
    )
    def test_json_that_is_no_golden_set_is_refused(self, content: str, expected: str) -> None:
        assert expected in error_of(content, "set.json")

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("none.yaml", "No such file or directory; to start one, write `queries: "),
            ("", "Is a directory"),
            ("latin.yaml", "UTF-8"),
        ],
    )
    def test_unreadable_file_is_named(self, tmp_path: Path, name: str, expected: str) -> None:
        (tmp_path / "latin.yaml").write_bytes("queries: [é]".encode("latin-1"))
        with pytest.raises(InvalidInput, match=expected) as caught:
            load_golden_file(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)

    def test_missing_file_message_shows_a_valid_golden_set(self) -> None:
        (example,) = re.findall(r"`(queries: .*?)`", HOW_TO_START)
        assert parse_golden(example, "set.yaml").queries[0].labels == (Label(page="ADDRESS"),)


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 5000, "1" + ":1" * 5000, "9" * 5000], ids=["hexadecimal", "parts", "decimal"]
)
@pytest.mark.parametrize("field", ["text: {}", "text: a, expected_criteria: {{x: {}}}"])
def test_long_number_is_refused(field: str, number: str) -> None:
    content = f"queries:\n- {{{field.format(number)}}}\n"
    assert "line 2, column " in error_of(content)
    assert "a number has more than 100 characters; write a text in quotes" in error_of(content)


class TestAliases:
    def test_aliases_and_merge_keys_are_resolved(self) -> None:
        golden = parse_golden(
            """
            queries:
            - {id: a, text: one, paraphrase_group: g, labels: &same [{page: p.md, grade: 2}]}
            - {id: b, text: two, paraphrase_group: g, labels: *same}
            - &base {id: c, text: three, query_type: broad}
            - {<<: *base, id: d}
            """,
            "set.yaml",
        )
        first, second, third, fourth = golden.queries
        assert first.labels == second.labels == (Label(page="p.md", grade=2),)
        assert (fourth.id, fourth.text, fourth.query_type) == ("d", third.text, "broad")

    @pytest.mark.parametrize(
        "line", ["x{0}: &x{0} [{1}]", "x{0}: &x{0} {{a: [{1}]}}", "x{0}: &x{0} {{<<: [{1}]}}"]
    )
    def test_exponential_aliases_are_refused(self, line: str) -> None:
        lines = ["x0: &x0 {k: v}"]
        lines += [line.format(level, ", ".join([f"*x{level - 1}"] * 10)) for level in range(1, 12)]
        assert "aliases expand to more than" in error_of("\n".join([*lines, GOOD]))

    def test_aliased_labels_of_many_queries_are_counted(self) -> None:
        many = ", ".join(["*one"] * 3000)
        rows = "\n".join(f"- {{id: q{number}, text: x, labels: *all}}" for number in range(3000))
        content = f"note: [&one {{page: p, grade: 1}}, &all [{many}]]\nqueries:\n{rows}\n"
        assert "aliases expand to more than" in error_of(content)

    def test_aliases_may_not_expand_out_of_proportion_to_the_file(self) -> None:
        many = ", ".join(["a.md"] * 1000)
        rows = "\n".join(f"- {{id: q{number}, text: x, labels: *all}}" for number in range(1000))
        content = f"queries:\n- {{text: x, labels: &all [{many}]}}\n{rows}\n"
        assert "aliases expand to more than" in error_of(content)

    @pytest.mark.parametrize("value", ["x", ""])
    def test_nested_keys_are_refused_where_they_are(self, value: str) -> None:
        """To describe such a key, each key in it would be described again."""
        lines = ["x0: &x0 {k: v}"]
        lines += [f"x{level}: &x{level} {{? *x{level - 1} : {value}}}" for level in range(1, 500)]
        assert "line 1, column 5: a key must be text" in error_of("\n".join([*lines, GOOD]))

    def test_alias_of_itself_is_refused(self) -> None:
        assert "query 1: must be an object with named fields" in error_of("queries: &a [*a]")


class TestDumping:
    MADE = parse_golden(GOOD, "set.yaml")

    @pytest.mark.parametrize("name", ["set.yaml", "set.json"])
    def test_failed_dump_leaves_the_old_file(self, tmp_path: Path, name: str) -> None:
        dump_golden(self.MADE, tmp_path / name)
        before = (tmp_path / name).read_bytes()
        half = self.MADE.model_copy(update={"description": "half a pair: \ud800"})
        with pytest.raises(InvalidInput, match=r"can't be written|invalid Unicode character|surrogate"):
            dump_golden(half, tmp_path / name)
        for part in ("write_text", "replace"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Path, part, _no_room)
                with pytest.raises(InvalidInput, match="can't be written: No space left"):
                    dump_golden(self.MADE, tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
        assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]

    def test_dump_to_missing_folder_is_invalid_input(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="No such file"):
            dump_golden(self.MADE, tmp_path / "none" / "set.yaml")


def _no_room(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


class TestShortForm:
    def test_seed_000_only_a_text_and_a_location_are_required(self) -> None:
        short = parse_golden(
            """
            queries:
              - text: What do the QoS policies do?
                labels: docs/topics.md#qos-policies
              - text: How are nodes named?
                labels:
                  - https://book.example/docs/nodes#names
                  - {page: docs/nodes.md, quote: Names are unique, grade: 1}
              - text: What is a launch file?
                labels: {page: docs/launch.md}
            """,
            "set.yaml",
        )
        first, second, third = short.queries
        assert first.labels == (Label(page="docs/topics.md", anchor="qos-policies", grade=2),)
        assert second.labels == (
            Label(url="https://book.example/docs/nodes#names", grade=2),
            Label(page="docs/nodes.md", quote="Names are unique", grade=1),
        )
        assert third.labels == (Label(page="docs/launch.md", grade=2),)
        assert [query.id for query in short.queries] == [
            "what-do-the-qos-policies-do",
            "how-are-nodes-named",
            "what-is-a-launch-file",
        ]
        assert {query.query_type for query in short.queries} == {"specific"}
        assert (short.version, short.name) == (1, "golden")

    def test_short_form_names_a_page_with_a_number_sign_by_its_escape(self) -> None:
        labels = ["docs/c%23.md", "docs/c%23.md#types", "https://book.example/c%23#types"]
        (query,) = GoldenSet.model_validate({"queries": [{"text": "a", "labels": labels}]}).queries
        assert [(label.page, label.url, label.anchor) for label in query.labels] == [
            ("docs/c#.md", None, None),
            ("docs/c#.md", None, "types"),
            (None, "https://book.example/c%23#types", None),
        ]

    def test_short_form_works_in_json(self) -> None:
        golden_set = parse_golden(
            '{"queries": [{"text": "What is a node?", "labels": "docs/a.md#b"}]}', "set.json"
        )
        assert golden_set.queries[0].id == "what-is-a-node"
        assert golden_set.queries[0].labels == (Label(page="docs/a.md", anchor="b", grade=2),)

    @given(golden_set=golden_sets)
    def test_line_numbers_do_not_affect_equality(self, golden_set: GoldenSet) -> None:
        text = json.dumps(golden_set.model_dump(mode="json"))
        reparsed = parse_golden(text, "set.json")
        assert reparsed == golden_set
        assert reparsed.queries[0].line == 1
        assert hash(reparsed.queries[0].labels) == hash(golden_set.queries[0].labels)


class TestDerivedIds:
    def test_derived_id_depends_on_the_text_alone(self) -> None:
        texts = [
            "What is C?", "What is C++?", "What is C#?", "", "???", "什么是 ROS", "如何用 ROS", "w " * 80,
            "w " * 81,
        ]  # fmt: skip
        ids = {text: GoldenQuery(text=text).id for text in texts}
        assert len({*ids.values()}) == len(texts)
        assert ids["What is C?"] == "what-is-c"
        content = json.dumps({"queries": [{"text": text} for text in reversed(texts)]})
        assert {query.text: query.id for query in parse_golden(content, "set.json").queries} == ids

    @given(content=st.text(st.characters(exclude_categories=["Cs"])))
    def test_derived_id_is_a_short_slug(self, content: str) -> None:
        query_id = GoldenQuery(text=content).id
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", query_id)
        assert len(query_id) <= 67

    @pytest.mark.parametrize(
        ("second", "expected"),
        [
            (
                "What is a node?",
                "line 3, column 3: query what-is-a-node: is the same question as line 2; merge",
            ),
            (
                "what is a Node",
                "line 3, column 3: query what-is-a-node: gets the same id from its text as line 2",
            ),
        ],
    )
    def test_repeated_question_is_refused_with_both_lines(self, second: str, expected: str) -> None:
        content = f"queries:\n- text: What is a node?\n- text: {second}\n"
        assert expected in error_of(content)
        assert len(parse_golden(content + "  id: again\n", "set.yaml").queries) == 2

    @pytest.mark.parametrize("query_id", ['""', '" "', '"\\t"', '"\\u3000"'])
    def test_id_of_white_space_is_refused(self, query_id: str) -> None:
        content = f"queries:\n- text: What is a node?\n  id: {query_id}\n"
        assert "line 3, column 7: query 1.id: must not be empty" in error_of(content)

    def test_explicit_id_must_differ_from_derived_ids(self) -> None:
        content = "queries:\n- text: What is a node?\n- text: Why?\n  id: what-is-a-node\n"
        assert "line 4, column 7: query what-is-a-node: line 2 has the same id" in error_of(content)


class TestAllErrorsAtOnce:
    MANY = """\
queries:
- text: What is a node?
  lable: docs/nodes.md
- text: 12
  labels: {page: docs/a.md, grade: 3, colour: red}
- labels:
  - {anchor: b, grade: high}
  - "#b"
- text: What is a node?
  page: docs/a.md
  page: docs/b.md
- text: Why?
  id: [a]
  expected_criteria: {min_score: 2}
mrr: 0.5
critera: {}
"""
    EXPECTED = (
        "line 3, column 3: query 1.lable: there is no such field; did you mean labels?",
        "line 4, column 9: query 2.text: must be text, but is read as 12; write it in quotes",
        "line 5, column 36: query 2.labels.0.grade: must be at most 2",
        "line 5, column 39: query 2.labels.0.colour: there is no such field; the fields are grade, page, ",
        "line 6, column 3: query 3.text: must be given",
        "line 7, column 5: query 3.labels.0: a label needs a page, a url or a chunk",
        "line 7, column 24: query 3.labels.0.grade: must be a whole number",
        "line 8, column 5: query 3.labels.1: a label needs a page, a url or a chunk",
        "line 9, column 3: query what-is-a-node: is the same question as line 2; ",
        "line 11, column 3: page is already in line 10",
        "line 11, column 3: query 4.page: there is no such field; it belongs under labels",
        "line 13, column 7: query ['a'].id: must be text",
        "line 14, column 34: query ['a'].expected_criteria.min_score: must be at most 1",
        "line 15, column 1: mrr: there is no such field; it belongs under criteria",
        "line 16, column 1: critera: there is no such field; did you mean criteria?",
    )

    def check(self, content: str, name: str) -> list[str]:
        with pytest.raises(InvalidFile) as caught:
            parse_golden(content, name)
        return str(caught.value).split("\n  ")

    def test_all_errors_of_yaml_are_listed_with_their_lines(self) -> None:
        headline, *errors = self.check(self.MANY, "set.yaml")
        assert headline == "golden: set.yaml has 15 errors:"
        assert len(errors) == len(self.EXPECTED)
        for error, expected in zip(errors, self.EXPECTED, strict=True):
            assert error.startswith(expected)

    def test_all_errors_of_json_are_listed_with_their_lines(self) -> None:
        content = '{"queries": [\n  {"text": "a", "lable": 1},\n  {"text": "b", "labels": {"grade": 7}}\n]}'
        assert self.check(content, "set.json")[1:] == [
            "line 2, column 17: query 1.lable: there is no such field; did you mean labels?",
            "line 3, column 27: query 2.labels.0: a label needs a page, a url or a chunk",
            "line 3, column 37: query 2.labels.0.grade: must be at most 2",
        ]

    def test_error_in_aliased_labels_is_listed_once(self) -> None:
        content = "queries:\n- {text: a, labels: &l [{page: p, grade: 3}]}\n- {text: b, labels: *l}\n"
        (single,) = self.check(content, "set.yaml")
        assert single.startswith("golden: set.yaml: line 2, column 42: query 1.labels.0.grade")

    def test_error_in_merged_field_has_the_line_where_it_is_written(self) -> None:
        content = "queries:\n- &base {text: a, top_k: 0}\n- {<<: *base, text: b}\n"
        (single,) = self.check(content, "set.yaml")
        assert single.startswith("golden: set.yaml: line 2, column 26: query 1.top_k")

    def test_long_list_of_errors_is_truncated(self) -> None:
        content = "queries:\n" + "- {}\n" * 1000
        assert self.check(content, "set.yaml")[-1] == "and 900 more"

    def test_queries_and_labels_know_their_lines(self) -> None:
        golden_set = parse_golden(GOOD, "set.yaml")
        assert [query.line for query in golden_set.queries] == [2, 6]
        assert [label.line for query in golden_set.queries for label in query.labels] == [5, 9]


class TestExpectedCriteria:
    def test_seed_000_expected_criteria_keep_further_keys(self, tmp_path: Path) -> None:
        further = {"min_score": 0.2, "max_age_days": 30, "reviewers": ["ann", {"team": None}]}
        content = json.dumps({"queries": [{"text": "a", "expected_criteria": further}]})
        golden_set = parse_golden(content, "set.json")
        assert golden_set.queries[0].expected_criteria.model_extra == {
            "max_age_days": 30,
            "reviewers": ["ann", {"team": None}],
        }
        dump_golden(golden_set, tmp_path / "set.yaml")
        assert load_golden_file(tmp_path / "set.yaml") == golden_set
        changed = parse_golden(content.replace("30", "31"), "set.json")
        assert changed != golden_set
        assert fingerprint_golden(changed) != fingerprint_golden(golden_set)

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (".nan", "expected_criteria.x: must be a finite number"),
            ("[{y: -.inf}]", "expected_criteria.x: must be a finite number"),
            ("2025-12-14", "expected_criteria.x: is read as a date; write it in quotes: '2025-12-14'"),
            ("!!binary aGk=", "expected_criteria.x"),
            ("!!set {a, b}", "expected_criteria.x"),
        ],
    )
    def test_expected_criteria_refuse_values_that_json_lacks(self, value: str, expected: str) -> None:
        assert expected in error_of(f"queries: [{{text: a, expected_criteria: {{x: {value}}}}}]")

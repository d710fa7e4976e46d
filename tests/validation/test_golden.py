"""Golden files: written and read the same, and refused with the place of what is wrong."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pertinent.errors import InvalidInput
from pertinent.validation import golden
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden import ExpectedCriteria, GoldenQuery, GoldenSet, Label

SAME_FOLDER = settings(
    max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "no",
        "1",
        "~",
        "null",
        "2025-12-14",
        "- a",
        "a: b",
        "# c",
        "a\n\n  b\n",
        " a ",
        "\t",
        "…",
        "'",
        "&a",
        "<<",
    ]
)
maybe = st.none() | text
share = st.floats(0, 1)
labels = st.builds(
    Label,
    grade=st.integers(0, 2),
    page=text.filter(bool),
    url=st.sampled_from([None, "https://x.org/a#b"]),
    anchor=maybe,
    quote=st.none() | text.filter(lambda one: bool(one.replace("…", "").strip())),
    chunk=maybe,
    span=st.none() | st.tuples(st.integers(0, 9), st.integers(10, 99)),
    judge=maybe,
    note=maybe,
)
queries = st.builds(
    GoldenQuery,
    id=text.filter(bool),
    text=text,
    query_type=st.sampled_from(["specific", "broad", "paraphrase", "edge"]),
    category=st.sampled_from([None, "factual", "conceptual", "contextual"]),
    top_k=st.integers(1, 100),
    paraphrase_group=maybe,
    expected_criteria=st.builds(ExpectedCriteria, min_score=st.none() | share, expected_topic=maybe),
    labels=st.lists(labels, max_size=3).map(tuple),
    note=maybe,
) | st.builds(GoldenQuery, id=text.filter(bool), text=text, answerable=st.just(False))
sets = st.builds(
    GoldenSet,
    name=text,
    description=maybe,
    unit=st.sampled_from(["passage", "page"]),
    answer_threshold=share,
    criteria=st.builds(
        Criteria, mrr=share, at_least=st.dictionaries(text, share, max_size=2), strict=st.booleans()
    ),
    queries=st.lists(queries, min_size=1, max_size=4, unique_by=lambda query: query.id).map(tuple),
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


def fault(content: str, name: str = "set.yaml") -> str:
    with pytest.raises(InvalidInput) as caught:
        golden.parse(content, name)
    message = str(caught.value)
    assert message.startswith(f"golden: {name}")
    return message


class TestRoundTrip:
    @SAME_FOLDER
    @given(made=sets, ending=st.sampled_from(["yaml", "yml", "json"]))
    def test_what_is_written_is_read_the_same(self, tmp_path: Path, made: GoldenSet, ending: str) -> None:
        path = tmp_path / f"set.{ending}"
        golden.dump(made, path)
        assert golden.load(path) == made
        assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []

    def test_what_is_usual_is_not_written(self, tmp_path: Path) -> None:
        made = golden.parse(GOOD, "set.yaml")
        golden.dump(made, tmp_path / "set.yaml")
        assert (tmp_path / "set.yaml").read_text().splitlines()[:6] == [
            "version: 1",
            "name: golden",
            "queries:",
            "  - id: a",
            "    text: What is a node?",
            "    labels:",
        ]

    def test_the_schema_is_json_and_names_every_field(self) -> None:
        schema = json.loads(json.dumps(golden.json_schema()))
        assert {*schema["properties"]} == {*GoldenSet.model_fields}
        assert {*schema["$defs"]["Label"]["properties"]} == {*Label.model_fields}


class TestBadFiles:
    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ("grade: 1", "grade: 3", "query b.labels.0.grade: must be at most 2"),
            ("grade: 1", "grade: -1", "query b.labels.0.grade: "),
            ("grade: 1", "grade: true", "query b.labels.0.grade: must be a whole number"),
            ("grade: 1", "grade: 1.0", "query b.labels.0.grade: must be a whole number"),
            ("grade: 1", 'grade: "1"', "query b.labels.0.grade: must be a whole number"),
            ("grade: 1", "grade: .nan", "query b.labels.0.grade: "),
            ("    grade: 1", "    note: x", "query b.labels.0.grade: must be given"),
            ("grade: 1", "grade: 1\n    colour: red", "query b.labels.0.colour: there is no such field"),
            ("- id: b", "- lables: []\n  id: b", "query b.lables: there is no such field"),
            (
                "- page: docs/topics.md\n    ",
                "- ",
                "query b.labels.0: a label needs a page, a url or a chunk",
            ),
            ("page: docs/topics.md", "url: http://[", "query b.labels.0: "),
            ("grade: 1", "quote: ' … '\n    grade: 1", "query b.labels.0: quote must not be empty"),
            ("grade: 1", 'quote: "\\n\\t"\n    grade: 1', "query b.labels.0: quote must not be empty"),
            ("grade: 1", "span: [5, 5]\n    grade: 1", "query b.labels.0: span must be"),
            ("grade: 1", "span: [-1, 5]\n    grade: 1", "query b.labels.0: span must be"),
            ("id: b", "id: a", "these query ids stand more than once: a"),
            ("id: b", "id: ''", "query 2.id: must not be empty"),
            ("id: b", f"id: {'b' * 101}", ".id: has 101 characters; it must have at most 100"),
            ("id: b", "id: no", "query 2.id: must be text, but is read as False; write it in quotes"),
            ("id: b", "id: yes", "query True.id: must be text, but is read as True; write it in quotes"),
            ("id: b", "id: 12", "query 12.id: must be text, but is read as 12; write it in quotes"),
            ("id: b", "id: 2025-12-14", "must be text, but is read as 2025-12-14; write it in quotes"),
            ("id: b", "id: 2025-13-45", "month must be in 1..12"),
            ("id: b", "id:", "query 2.id: must be text"),
            ("- id: b", "- 7\n- id: b", "query 2: must be an object with named fields"),
            ("- id: b", "- top_k: 0\n  id: b", "query b.top_k: "),
            ("- id: b", "- query_type: odd\n  id: b", "query b.query_type: "),
            ("- id: b", "- answerable: false\n  id: b", "query b: answerable is false, but a label above 0"),
            (
                "- id: b",
                "- expected_criteria: {min_score: .nan}\n  id: b",
                "query b.expected_criteria.min_score",
            ),
            (
                "- id: b",
                "- expected_criteria: {min_score: .inf}\n  id: b",
                "query b.expected_criteria.min_score",
            ),
            ("- id: b", "- id: b\n  id: c", "line 7: id is given twice"),
            ("queries:", "name: x\nqueries: []\nqueries:", "line 3: queries is given twice"),
            ("queries:", "queires:", "queries: must be given"),
            ("queries:", "version: 2\nqueries:", "version: must be 1, not 2"),
            ("queries:", "answer_threshold: .nan\nqueries:", "answer_threshold: "),
            ("queries:", "criteria: {mrr: 2}\nqueries:", "criteria.mrr: "),
            ("id: b", "id: [b", "set.yaml: while parsing a flow sequence line 6, column 7"),
            ("id: b", "id: *nowhere", "line 6, column"),
            ("id: b", "id: !!python/object:os.system b", "line 6, column"),
            ("id: b", "id: \x07", "control characters are not allowed"),
        ],
    )
    def test_a_fault_is_told_with_its_query_and_field(self, before: str, after: str, expected: str) -> None:
        assert GOOD.count(before) == 1
        assert expected in fault(GOOD.replace(before, after))

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("", "is not a golden set"),
            ("- a\n- b\n", "is not a golden set"),
            ("just words", "is not a golden set"),
            ("queries: []", "queries: must not be empty"),
            ("queries: a", "queries: must be a list"),
            ("? [a]\n: b\n", "unhashable key"),
        ],
    )
    def test_a_file_that_is_something_else_is_refused(self, content: str, expected: str) -> None:
        assert expected in fault(content)

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ('{"queries": [\n{"id": "a",}]}', "line 2: "),
            ('{"queries": [{"id": "a", "id": "b", "text": "?"}]}', "id is given twice"),
            ('{"queries": [{"id": 1, "text": "?"}]}', "query 1.id: must be text, but is read as 1"),
            (
                '{"queries": [{"id": "a", "text": "?", "expected_criteria": {"min_score": NaN}}]}',
                "query a.expected_criteria.min_score: ",
            ),
            ("[" * 100_000, "is nested too deeply"),
            ("[]", "is not a golden set"),
        ],
    )
    def test_so_is_json(self, content: str, expected: str) -> None:
        assert expected in fault(content, "set.json")

    def test_the_first_fault_tells_how_many_more_there_are(self) -> None:
        assert "query a.labels.0.grade: " in fault(GOOD.replace("grade: ", "grade: 9"))
        assert fault(GOOD.replace("grade: ", "grade: 9")).endswith("(and 1 more)")
        assert "more)" not in fault(GOOD.replace("grade: 1", "grade: 3"))

    def test_a_file_that_can_not_be_read_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "latin.yaml").write_bytes("queries: [é]".encode("latin-1"))
        for name, expected in (
            ("none.yaml", "No such file"),
            ("", "Is a directory"),
            ("latin.yaml", "UTF-8"),
        ):
            with pytest.raises(InvalidInput, match=expected) as caught:
                golden.load(tmp_path / name)
            assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("nested", ["[" * 200_000, "- " * 100_000, "{a: " * 100_000])
def test_depth_without_end_is_refused_before_it_ends_the_process(nested: str) -> None:
    assert "nested more than 100 deep" in fault(f"queries: {nested}" if nested[0] != "-" else nested)


class TestAliases:
    def test_paraphrases_may_share_their_labels(self) -> None:
        found = golden.parse(
            """
            queries:
            - {id: a, text: one, paraphrase_group: g, labels: &same [{page: p.md, grade: 2}]}
            - {id: b, text: two, paraphrase_group: g, labels: *same}
            - &base {id: c, text: three, query_type: broad}
            - {<<: *base, id: d}
            """,
            "set.yaml",
        )
        first, second, third, fourth = found.queries
        assert first.labels == second.labels == (Label(page="p.md", grade=2),)
        assert (fourth.id, fourth.text, fourth.query_type) == ("d", third.text, "broad")

    @pytest.mark.parametrize(
        "line",
        [
            "x{0}: &x{0} [{1}]",
            "x{0}: &x{0} {{a: [{1}]}}",
            "x{0}: &x{0} {{<<: [{1}]}}",
        ],
    )
    def test_aliases_that_multiply_are_refused_at_once(self, line: str) -> None:
        lines = ["x0: &x0 {k: v}"]
        lines += [line.format(level, ", ".join([f"*x{level - 1}"] * 10)) for level in range(1, 12)]
        started = time.perf_counter()
        assert "aliases come to more than" in fault("\n".join([*lines, GOOD]))
        assert time.perf_counter() - started < 1

    def test_labels_times_queries_are_counted_too(self) -> None:
        many = ", ".join(["*one"] * 3000)
        each = "\n".join(f"- {{id: q{number}, text: x, labels: *all}}" for number in range(3000))
        content = f"note: [&one {{page: p, grade: 1}}, &all [{many}]]\nqueries:\n{each}\n"
        assert "aliases come to more than" in fault(content)

    def test_an_alias_of_itself_is_no_golden_set(self) -> None:
        assert "query 1: must be an object with named fields" in fault("queries: &a [*a]")


class TestDumping:
    MADE = golden.parse(GOOD, "set.yaml")

    @pytest.mark.parametrize("name", ["set.yaml", "set.json"])
    def test_a_dump_that_fails_leaves_the_old_file(self, tmp_path: Path, name: str) -> None:
        golden.dump(self.MADE, tmp_path / name)
        before = (tmp_path / name).read_bytes()
        half = self.MADE.model_copy(update={"description": "half a pair: \ud800"})
        with pytest.raises(InvalidInput, match=r"can't be written|invalid Unicode character|surrogate"):
            golden.dump(half, tmp_path / name)
        for part in ("write_text", "replace"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Path, part, _no_room)
                with pytest.raises(InvalidInput, match="can't be written: No space left"):
                    golden.dump(self.MADE, tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
        assert [one.name for one in tmp_path.iterdir() if one.is_file()] == [name]

    def test_a_folder_that_is_not_there_is_an_error_of_ours(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="No such file"):
            golden.dump(self.MADE, tmp_path / "none" / "set.yaml")


def _no_room(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")

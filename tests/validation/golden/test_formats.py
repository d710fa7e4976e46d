"""Golden sets in the formats of others: the round trip, and errors with file and line."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import InvalidInput
from pertinent.indexing.chunking import chunk_page
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import page
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden import formats
from pertinent.validation.golden.golden_set import (
    ExpectedCriteria,
    GoldenQuery,
    GoldenSet,
    Label,
    dump_golden,
)
from pertinent.validation.labels.resolve import resolve_labels
from pertinent.validation.preflight import list_notes, list_unlabeled
from pertinent.validation.target import PageView

from .strategies import IN_ONE_FOLDER, TEXTS, queries_strategy


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def error_of(call: Any, *arguments: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        call(*arguments)
    return str(caught.value)


class TestQrels:
    def test_qrels_round_trip(self, tmp_path: Path) -> None:
        qrels = {"q1": {"a": 2, "b": 0, "é": -2}, "q2": {"a": 4}}
        formats.write_qrels(qrels, tmp_path / "x.qrels")
        assert (tmp_path / "x.qrels").read_text("utf-8").splitlines()[0] == "q1 0 a 2"
        assert formats.read_qrels(tmp_path / "x.qrels") == qrels

    def test_qrels_may_have_any_white_space_and_blank_lines(self, tmp_path: Path) -> None:
        path = put(tmp_path / "x.qrels", "\ufeffq1\t0\ta\t1\r\n\r\n  q1  Q0  b  0  \n")
        assert formats.read_qrels(path) == {"q1": {"a": 1, "b": 0}}

    def test_missing_or_binary_file_is_refused(self, tmp_path: Path) -> None:
        assert "can't be read" in error_of(formats.read_qrels, tmp_path / "none")
        (tmp_path / "x").write_bytes(b"q 0 \xff 1")
        assert "is not UTF-8" in error_of(formats.read_qrels, tmp_path / "x")

    @pytest.mark.parametrize("name", ["a b", "", " a", "a\n"])
    def test_qrels_refuse_names_with_spaces(self, tmp_path: Path, name: str) -> None:
        path = put(tmp_path / "x.qrels", "before")
        assert "TREC" in error_of(formats.write_qrels, {"q": {name: 1}}, path)
        assert "TREC" in error_of(formats.write_qrels, {name: {"a": 1}}, path)
        assert path.read_text() == "before"


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("qrels", "q 0 a 1\nq 0 b", "line 2 has 3 columns"),
        ("qrels", "q 0 a 1\n\nq 0 b 1 x", "line 3 has 5 columns"),
        ("qrels", "q 0 a one", "line 1: grade must be a whole number, not 'one'"),
        ("qrels", "q 0 a 1.0", "line 1: grade"),
        ("qrels", "q 0 a 1_0", "line 1: grade"),
        ("qrels", "q 0 a ١", "line 1: grade"),
        ("qrels", "q 0 a 1\nq 0 a 2", "line 2: query q has a twice"),
        ("run", "q Q0 a 1 0.5", "line 1 has 5 columns"),
        ("run", "q Q0 a first 0.5 t", "line 1: rank must be a whole number, not 'first'"),
        ("run", "q Q0 a 1 high t", "line 1: score must be a number, not 'high'"),
        ("run", "q Q0 a 1 0.5 t\nq Q0 b 1 0.4 t", "line 2: query q has rank 1 or b twice"),
        ("run", "q Q0 a 1 0.5 t\nq Q0 a 2 0.4 t", "line 2: query q has rank 2 or a twice"),
        ("run", "q Q0 a 1 nan t", "query q: the scores must be finite"),
        ("run", "q Q0 a 1 0.4 t\nq Q0 b 2 0.5 t", "query q: the scores must be finite, and must not rise"),
    ],
)
def test_trec_error_names_file_and_line(tmp_path: Path, field: str, text: str, fault: str) -> None:
    path = put(tmp_path / "x.trec", text)
    read = formats.read_qrels if field == "qrels" else formats.read_run
    assert error_of(read, path).startswith(f"{field}: {path}: {fault}")


class TestRuns:
    def test_run_round_trip(self, tmp_path: Path) -> None:
        run = {"q1": [("b", 1 / 3), ("a", 0.25), ("c", 0.25)], "q2": [("a", 1e-12)]}
        formats.write_run(run.items(), tmp_path / "x.run", tag="mine")
        assert (tmp_path / "x.run").read_text().splitlines()[1] == "q1 Q0 a 2 0.25 mine"
        assert formats.read_run(tmp_path / "x.run") == run

    def test_run_is_ordered_by_rank(self, tmp_path: Path) -> None:
        path = put(tmp_path / "x.run", "q Q0 b 2 0.1 t\nq Q0 a 1 0.2 t\n")
        assert formats.read_run(path) == {"q": [("a", 0.2), ("b", 0.1)]}

    def test_repeated_result_keeps_its_first_rank(self, tmp_path: Path) -> None:
        formats.write_run([("q", [("a", 3.0), ("b", 2.0), ("a", 1.0)])], tmp_path / "x.run")
        assert formats.read_run(tmp_path / "x.run") == {"q": [("a", 3.0), ("b", 2.0)]}

    @pytest.mark.parametrize(
        "results", [[("a", 0.1), ("b", 0.2)], [("a", float("nan"))], [("a", float("inf"))], [("a b", 1.0)]]
    )
    def test_run_that_could_not_be_read_back_is_refused(self, tmp_path: Path, results: Any) -> None:
        error_of(formats.write_run, [("q", results)], tmp_path / "x.run")
        error_of(formats.write_run, [("q", [("a", 1.0)])], tmp_path / "x.run", "my tag")
        assert not (tmp_path / "x.run").exists()


def beir(folder: Path, queries: list[dict[str, Any]], qrels: str, name: str = "qrels/test.tsv") -> Path:
    put(folder / "queries.jsonl", "".join(f"{json.dumps(query)}\n" for query in queries))
    put(folder / name, f"query-id\tcorpus-id\tscore\n{qrels}")
    return folder


TWO: list[dict[str, Any]] = [{"_id": "q2", "text": "Second?"}, {"_id": 1, "text": "First?", "metadata": {}}]


class TestBeir:
    def test_beir_judges_pages(self, tmp_path: Path) -> None:
        folder = beir(tmp_path / "faq", TWO, "1\tfaq/a b.md#1\t1\nq2\t7\t2\nq2\t8\t0\n")
        golden_set = formats.read_beir(folder)
        assert (golden_set.name, golden_set.unit, golden_set.description) == ("faq", "page", None)
        assert [query.id for query in golden_set.queries] == ["q2", "1"]
        assert [query.text for query in golden_set.queries] == ["Second?", "First?"]
        assert golden_set.queries[0].labels == (Label(page="7", grade=2), Label(page="8", grade=0))
        assert golden_set.queries[1].labels == (Label(page="faq/a b.md#1", grade=1),)

    def test_beir_grades_are_clipped_to_0_to_2(self, tmp_path: Path) -> None:
        folder = beir(tmp_path, TWO[:1], "q2\ta\t4\nq2\tb\t3\nq2\tc\t-1\nq2\td\t1\n")
        golden_set = formats.read_beir(folder)
        assert [label.grade for label in golden_set.queries[0].labels] == [2, 2, 0, 1]
        assert golden_set.description == "2 grades above 2 counted as 2; 1 grades below 0 counted as 0"

    def test_beir_queries_without_relevant_judgment_are_left_out(self, tmp_path: Path) -> None:
        queries = [{"_id": f"q{number}", "text": "?"} for number in range(5)]
        folder = beir(tmp_path, queries, "q1\ta\t0\nq2\ta\t1\nq4\ta\t1\n")
        golden_set = formats.read_beir(folder)
        assert [query.id for query in golden_set.queries] == ["q2", "q4"]
        assert golden_set.description is None
        assert golden_set.unjudged == formats.read_beir(folder, limit=1).unjudged == 3
        notes = list_notes(golden_set, resolve_labels(golden_set, []), Criteria())
        assert any(note.startswith("3 queries have no relevant judgment") for note in notes)

    @pytest.mark.parametrize("grade", ["1.0", "-0.5", "x y", ""])
    def test_beir_first_row_is_a_header_only_if_its_last_cell_is_a_word(
        self, tmp_path: Path, grade: str
    ) -> None:
        put(tmp_path / "queries.jsonl", '{"_id": "q", "text": "?"}\n')
        path = put(tmp_path / "qrels.tsv", f"q\ta\t{grade}\nq\tb\t1\n")
        assert error_of(formats.read_beir, tmp_path).startswith(f"qrels: {path}: line 1")

    def test_beir_limit_takes_the_first_queries(self, tmp_path: Path) -> None:
        folder = beir(tmp_path, [{"_id": "none", "text": "?"}, *TWO], "1\ta\t1\nq2\ta\t1\n")
        assert [query.id for query in formats.read_beir(folder, limit=1).queries] == ["q2"]
        assert "at least 1" in error_of(formats.read_beir, folder, 0)

    def test_beir_judgments_are_test_else_the_only_file(self, tmp_path: Path) -> None:
        only = beir(tmp_path / "only", TWO, "1\tdev\t1\n", "qrels/dev.tsv")
        assert formats.read_beir(only).queries[0].labels[0].page == "dev"
        put(only / "qrels" / "train.tsv", "1\ttrain\t1\n")
        assert "only dev.tsv, train.tsv" in error_of(formats.read_beir, only)
        put(only / "qrels" / "test.tsv", "1\ttest\t1\n")
        assert formats.read_beir(only).queries[0].labels[0].page == "test"
        flat = beir(tmp_path / "flat", TWO, "1\tflat\t1\n", "qrels.tsv")
        assert formats.read_beir(flat).queries[0].labels[0].page == "flat"

    def test_beir_text_may_hold_unicode_line_separators(self, tmp_path: Path) -> None:
        put(tmp_path / "queries.jsonl", '{"_id": "q", "text": "a\u2028b\u0085c"}\n')
        put(tmp_path / "qrels.tsv", "q\ta\t1\n")
        assert formats.read_beir(tmp_path).queries[0].text == "a\u2028b\u0085c"

    @pytest.mark.parametrize(
        ("name", "content", "fault"),
        [
            ("queries.jsonl", '{"_id": "q", "text": "?"}\n' * 2, "line 2: the id 'q' is there twice"),
            ("queries.jsonl", '{"_id": true, "text": "?"}', "line 1 is not an object with _id and text"),
            ("queries.jsonl", '{"_id": "q"}', "line 1 is not an object with _id and text"),
            ("queries.jsonl", '["q"]', "line 1 is not an object with _id and text"),
            ("queries.jsonl", '\n{"_id": ', "line 2 is not JSON"),
            ("queries.jsonl", "[" * 100_000, "line 1 is not JSON"),
            ("queries.jsonl", '{"_id": "", "text": "?"}', "line 1: the id '' must have 1 to 100 characters"),
            ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq2\ta\n", "line 2 has 2 columns"),
            ("qrels/test.tsv", "q2\ta\t1\nq2 b 1\n", "line 2 has 1 columns"),
            ("qrels/test.tsv", "q2\ta\t1\nq2\t\t1\n", "line 2 has 3 columns"),
            ("qrels/test.tsv", "q2\ta\t1\nq2\tb\tx\n", "line 2: grade"),
            ("qrels/test.tsv", "q2\ta\t1\nq9\ta\t1\n", "line 2: there is no query q9"),
            ("qrels/test.tsv", "q2\ta\t1\nq2\ta\t1\n", "line 2: query q2 has a twice"),
        ],
    )
    def test_beir_error_has_file_and_line(self, tmp_path: Path, name: str, content: str, fault: str) -> None:
        folder = beir(tmp_path, TWO, "1\ta\t1\n")
        put(folder / name, content)
        assert f"{folder / name}: {fault}" in error_of(formats.read_beir, folder)

    def test_beir_folder_needs_queries_and_judgments(self, tmp_path: Path) -> None:
        assert "queries.jsonl can't be read" in error_of(formats.read_beir, tmp_path)
        put(tmp_path / "queries.jsonl", json.dumps(TWO[0]))
        assert "needs qrels/test.tsv, and has nothing" in error_of(formats.read_beir, tmp_path)
        put(tmp_path / "qrels.tsv", "q2\ta\t0\n")
        assert "no query with a relevant judgment" in error_of(formats.read_beir, tmp_path)

    def test_beir_round_trip(self, tmp_path: Path) -> None:
        golden_set = formats.read_beir(beir(tmp_path / "one", TWO, "1\ta b\t1\nq2\ta\t2\nq2\tb\t0\n"))
        formats.write_beir(golden_set, tmp_path / "new" / "one")
        assert formats.read_beir(tmp_path / "new" / "one") == golden_set

    def test_write_beir_needs_labels_on_pages(self, tmp_path: Path) -> None:
        def judging(label: Label, **fields: Any) -> GoldenSet:
            return GoldenSet(queries=(GoldenQuery(id="q", text="?", labels=(label,)),), **fields)

        assert "judges passages" in error_of(formats.write_beir, judging(Label(page="a", grade=1)), tmp_path)
        by_url = judging(Label(url="https://a.b/c", grade=1), unit="page")
        assert "query q: the label on https://a.b/c" in error_of(formats.write_beir, by_url, tmp_path)
        tabs = judging(Label(page="a\tb", grade=1), unit="page")
        assert "by tabs" in error_of(formats.write_beir, tabs, tmp_path)
        assert list(tmp_path.glob("q*")) == []
        on_page = judging(Label(page="a", grade=1), unit="page")
        assert "can't be created" in error_of(formats.write_beir, on_page, put(tmp_path / "file", ""))


formula_like = st.builds(
    str.__add__,
    st.sampled_from(["=", "+", "-", "@", "\t", "\r", "\n", "'", "'=", "''@", '"', ",", ";", "\r\n", " "]),
    st.text(st.sampled_from("=+-@'\"\r\n\t, aé"), max_size=6),
)
golden_sets = queries_strategy((TEXTS | formula_like).filter(bool)).map(
    lambda queries: GoldenSet(name="set", queries=queries)
)

HEADER = (
    "query_id,text,query_type,category,answerable,paraphrase_group,top_k,page,url,anchor,quote,grade,note"
)


class TestTables:
    @IN_ONE_FOLDER
    @given(golden_set=golden_sets, ending=st.sampled_from(["csv", "tsv"]))
    def test_table_round_trip(self, tmp_path: Path, golden_set: GoldenSet, ending: str) -> None:
        path = tmp_path / f"set.{ending}"
        formats.write_table(golden_set, path)
        assert formats.read_table(path) == golden_set

    @IN_ONE_FOLDER
    @given(golden_set=golden_sets)
    def test_table_escapes_formulas(self, tmp_path: Path, golden_set: GoldenSet) -> None:
        formats.write_table(golden_set, tmp_path / "set.csv")
        with (tmp_path / "set.csv").open(encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file):
                assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in row)

    def test_table_has_the_address_of_each_page(self, tmp_path: Path) -> None:
        labels = (Label(page="a.md", grade=1), Label(page="b.md", grade=0))
        query = GoldenQuery(id="q", text="?", labels=labels)
        golden_set = GoldenSet(pages={"a.md": "https://x.org/a"}, queries=(query,))
        formats.write_table(golden_set, tmp_path / "x.csv")
        first, second = formats.read_table(tmp_path / "x.csv").queries[0].labels
        assert (first.url, second.url) == ("https://x.org/a", None)

    def test_table_has_optional_columns_only_if_used(self, tmp_path: Path) -> None:
        plain = GoldenQuery(id="q", text="What?", labels=(Label(page="a.md", quote='say "a, b"', grade=1),))
        formats.write_table(GoldenSet(queries=(plain,)), tmp_path / "x.csv")
        text = (tmp_path / "x.csv").read_text("utf-8-sig")
        assert text == f'{HEADER}\nq,What?,specific,,true,,5,a.md,,,"say ""a, b""",1,\n'
        judged = Label(page="a.md", quote="say", span=(3, 6), judge="ada", grade=1)
        query = GoldenQuery(id="q", text="?", labels=(judged,))
        formats.write_table(GoldenSet(queries=(query,)), tmp_path / "x.csv")
        assert (tmp_path / "x.csv").read_text("utf-8-sig").splitlines()[0] == f"{HEADER},span,judge"

    def test_table_rows_may_leave_columns_blank(self, tmp_path: Path) -> None:
        rows = "query_id,text,page,grade,answerable\nq,What?,a.md,2,\n\nz,Who?,,,FALSE\nq,,b.md,0,\n,,,,\n"
        golden_set = formats.read_table(put(tmp_path / "mine.csv", rows))
        assert golden_set.name == "mine"
        assert golden_set.queries[0].labels == (Label(page="a.md", grade=2), Label(page="b.md", grade=0))
        assert (golden_set.queries[1].labels, golden_set.queries[1].answerable) == ((), False)

    def test_table_needs_only_text_and_location(self, tmp_path: Path) -> None:
        rows = "text,url,page,anchor\nWhat is it?,https://x.org/a#b,,\nWhy?,,c.md,d\nWhat is it?,,e.md,\n"
        first, second = formats.read_table(put(tmp_path / "mine.csv", rows)).queries
        assert (first.id, second.id) == ("what-is-it", "why")
        assert first.labels == (Label(url="https://x.org/a#b", grade=2), Label(page="e.md", grade=2))
        assert second.labels == (Label(page="c.md", anchor="d", grade=2),)
        assert [first.line, *(label.line for label in first.labels)] == [2, 2, 4]

    def test_table_errors_are_all_listed_with_their_lines(self, tmp_path: Path) -> None:
        rows = "text,page,grade,top_k\na,p,3,\nb,p\nc,,2,0\n,p,1,\na,q,x,7\n"
        path = put(tmp_path / "x.csv", rows)
        assert error_of(formats.read_table, path).split("\n  ") == [
            f"golden: {path} has 7 errors:",
            "line 2: grade: must be at most 2",
            "line 3: has 2 cells, but the header has 4",
            "line 4: a label needs a page, a url or a chunk",
            "line 4: top_k: must be at least 1",
            "line 5: needs a text, or the query_id of a row above",
            "line 6: grade: must be a whole number",
            "line 6: top_k differs from line 2, which has the same query",
        ]

    def test_seed_000_table_keeps_further_expected_criteria(self, tmp_path: Path) -> None:
        expected = ExpectedCriteria.model_validate({"min_score": 0.5, "reviewers": ["ann", "=1"]})
        golden_set = GoldenSet(name="x", queries=(GoldenQuery(text="?", expected_criteria=expected),))
        formats.write_table(golden_set, tmp_path / "x.csv")
        assert formats.read_table(tmp_path / "x.csv") == golden_set

    @pytest.mark.parametrize(
        ("rows", "fault"),
        [
            ("query_id,text,grade,colour\n", "line 1: there is no column 'colour'"),
            ("query_id,text,text\n", "line 1: the column 'text' is there twice"),
            ("query_id,page\n", "line 1: the column text is missing"),
            ("query_id,text,page,grade\nq,?,a\n", "line 2: has 3 cells, but the header has 4"),
            ('query_id,text,page,grade\nq,"a\nb\nc",a,1\nq,,b,3\n', "line 5: grade: must be at most 2"),
            ("query_id,text,page,grade\nq,?,a,true\n", "line 2: grade: must be a whole number"),
            ("query_id,text,page,grade\nq,?,,1\n", "line 2: a label needs a page, a url or a chunk"),
            ("query_id,text,page,grade\nq,?,a,1\nq,other,a,1\n", "line 3: text differs from line 2"),
            ("query_id,text,query_type\nq,?,odd\n", "line 2: query_type: "),
            ("query_id,text,top_k\nq,?,many\n", "line 2: top_k: must be a whole number"),
            ("query_id,text,top_k\nq,?,0\n", "line 2: top_k: "),
            ("query_id,text,answerable\nq,?,perhaps\n", "line 2: answerable: "),
            ("query_id,text,min_score\nq,?,nan\n", "line 2: min_score: "),
            ("query_id,text,page,grade,span\nq,?,a,1,7\n", "line 2: span: "),
            ("query_id,text,page,grade,answerable\nq,?,a,1,no\n", "line 2: answerable is false, but"),
            ("query_id,text,page\n,,a\n", "line 2: needs a text, or the query_id of a row above"),
            ("text,expected_criteria\n?,[]\n", "line 2: expected_criteria: must be an object"),
            ("text,expected_criteria\n?,{\n", "line 2: expected_criteria: must be an object"),
            ("text,grade,garde\n", "line 1: there is no column 'garde'; did you mean grade?"),
            ('query_id,text\nq,"a"b\n', "line 2: ',' expected after '\"'"),
            ('query_id,text\nq,"a\n', "line 2: unexpected end of data"),
            ("query_id,text\n", "has no queries"),
            ("", "has no queries"),
        ],
    )
    def test_table_error_names_file_and_line(self, tmp_path: Path, rows: str, fault: str) -> None:
        path = put(tmp_path / "x.csv", rows)
        joint = " " if fault.startswith("has") else ": "
        assert error_of(formats.read_table, path).startswith(f"golden: {path}{joint}{fault}")

    def test_failed_write_leaves_the_old_table(self, tmp_path: Path) -> None:
        path = put(tmp_path / "x.csv", "before")
        golden_set = GoldenSet(queries=(GoldenQuery(id="q", text="half \ud800"),))
        assert "can't be written" in error_of(formats.write_table, golden_set, path)
        assert [*tmp_path.iterdir()].count(path) == 1
        assert path.read_text() == "before"


def view(name: str, text: str) -> PageView:
    built = page(name, {"": text})
    return PageView.from_page(built, chunk_page(built, HashedWords().count_tokens, target=60, most=256))


class TestBuildQrels:
    PAGES = (view("a", "Apples are red."), view("b", "Bees are loud."))

    def make_set(self, **fields: Any) -> GoldenSet:
        labels = (Label(page="docs/a.md", grade=2), Label(page="docs/b.md", quote="Bees", grade=0))
        query = GoldenQuery(id="q", text="?", labels=labels)
        return GoldenSet(queries=(query, GoldenQuery(id="none", text="?")), **fields)

    def test_qrels_of_passages_have_chunk_ids(self, tmp_path: Path) -> None:
        golden_set = self.make_set()
        qrels = formats.build_qrels(golden_set, resolve_labels(golden_set, self.PAGES))
        first, second = (page.chunks[0].chunk_id for page in self.PAGES)
        assert qrels == {"q": {first: 2, second: 0}}
        formats.write_qrels(qrels, tmp_path / "x.qrels")
        put(tmp_path / "queries.tsv", "q\tWhat is red?\n")
        read_back = formats.read_golden(str(tmp_path / "x.qrels"))
        assert read_back.unit == "passage"
        assert read_back.queries[0].labels == (Label(chunk=first, grade=2), Label(chunk=second, grade=0))
        assert formats.build_qrels(read_back, resolve_labels(read_back, self.PAGES)) == qrels

    def test_qrels_of_pages_have_source_paths(self) -> None:
        golden_set = self.make_set(unit="page")
        qrels = formats.build_qrels(golden_set, resolve_labels(golden_set, self.PAGES))
        assert qrels == {"q": {"docs/a.md": 2, "docs/b.md": 0}}

    def test_qrels_refuse_two_pages_with_one_name(self) -> None:
        labels = tuple(Label(page=page.document_id, grade=1) for page in self.PAGES)
        golden_set = GoldenSet(unit="page", queries=(GoldenQuery(id="q", text="?", labels=labels),))
        twins = [replace(page, source_path="same.md") for page in self.PAGES]
        message = error_of(formats.build_qrels, golden_set, resolve_labels(golden_set, twins))
        assert "query q: two of its pages have the same name" in message


class TestReadGolden:
    def test_format_is_known_by_the_suffix(self, tmp_path: Path) -> None:
        label = Label(page="a", grade=1)
        queries = tuple(GoldenQuery(id=query_id, text="?", labels=(label,)) for query_id in ("q1", "q2"))
        golden_set = GoldenSet(name="x", queries=queries)
        for ending in ("yaml", "yml", "json"):
            dump_golden(golden_set, tmp_path / f"x.{ending}")
        for ending in ("csv", "tsv"):
            formats.write_table(golden_set, tmp_path / f"x.{ending}")
        for ending in ("yaml", "yml", "json", "csv", "tsv"):
            path = str(tmp_path / f"x.{ending}")
            assert formats.read_golden(path) == golden_set
            assert formats.read_golden(path, limit=1).queries == queries[:1]
            assert formats.read_golden(path, limit=9).queries == queries

    def test_qrels_need_queries_beside_them(self, tmp_path: Path) -> None:
        path = put(tmp_path / "x.txt", "q 0 c-1 3\n")
        assert "x.queries.tsv or queries.jsonl" in error_of(formats.read_golden, str(path))
        put(tmp_path / "queries.jsonl", '{"_id": "q", "text": "From JSON?"}\n')
        assert formats.read_golden(str(path)).queries[0].text == "From JSON?"
        put(tmp_path / "x.queries.tsv", "q\tFrom a\ttable?\n")
        golden_set = formats.read_golden(str(path))
        assert (golden_set.name, golden_set.queries[0].text) == ("x", "From a\ttable?")
        assert golden_set.queries[0].labels == (Label(chunk="c-1", grade=2),)
        same = put(tmp_path / "x.tsv", "query-id\tcorpus-id\tscore\nq\tc-1\t2\n")
        assert formats.read_golden(str(same)).queries == golden_set.queries
        put(tmp_path / "x.queries.tsv", "q no tab\n")
        assert "line 1 is not an id, a tab and a text" in error_of(formats.read_golden, str(path))

    def test_qrels_keep_queries_without_a_judgment(self, tmp_path: Path) -> None:
        """The verdict is then INVALID, as for a query without labels in a YAML file."""
        put(tmp_path / "queries.tsv", "none\tNobody?\nq\tWhat?\nbad\tNo?\n")
        path = str(put(tmp_path / "x.qrels", "q 0 c-1 2\nbad 0 c-1 0\n"))
        golden_set = formats.read_golden(path)
        assert [query.id for query in golden_set.queries] == ["none", "q", "bad"]
        assert [query.id for query in list_unlabeled(golden_set)] == ["none", "bad"]
        assert (golden_set.unjudged, golden_set.description) == (0, None)

    def test_beir_prefix_names_a_folder(self, tmp_path: Path) -> None:
        folder = beir(tmp_path / "faq", TWO, "1\ta\t1\nq2\tb\t1\n")
        assert formats.read_golden(f"beir:{folder}") == formats.read_beir(folder)
        assert len(formats.read_golden(f"beir:{folder}", limit=1).queries) == 1

    def test_unknown_format_and_bad_limit_are_refused(self, tmp_path: Path) -> None:
        assert "has an unknown format" in error_of(formats.read_golden, "set.pdf")
        assert "has an unknown format" in error_of(formats.read_golden, str(tmp_path))
        assert error_of(formats.read_golden, "set.yaml", 0).startswith("limit: must be at least 1, not 0")
        assert "can't be read" in error_of(formats.read_golden, "none.csv")

    def test_judgments_without_text_are_refused(self) -> None:
        assert "the query z has judgments, but no text" in error_of(
            formats.build_golden, {"z": {"a": 1}}, {"q": "?"}, "x"
        )

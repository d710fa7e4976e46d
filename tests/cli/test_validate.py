"""`pertinent validate`: its verdict as an exit code, what it prints, and what it writes."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import pytest
import yaml

from pertinent.surfaces.library import Pertinent
from pertinent.validation.report import ValidationReport

from .conftest import Run

LENIENT = {"precision_at_5": 0.2, "queries_reaching": 1.0, "mrr": 0.5}
LIMITS = [{"page": "docs/joints.md", "anchor": "limits", "grade": 2}]
TOPICS = [{"page": "docs/nodes.md", "quote": "publish messages on topics", "grade": 2}]
QUERIES: list[dict[str, Any]] = [
    {"id": "limits", "text": "limits of a revolute joint", "labels": LIMITS},
    {"id": "topics", "text": "publish messages on topics", "labels": TOPICS},
    {"id": "zebra", "text": "zebra", "answerable": False},
    {"id": "empty", "text": "", "query_type": "edge", "answerable": False},
]


def newest_report() -> Path:
    return max(Path("validation_results").glob("report_*.json"), key=lambda path: path.stat().st_mtime_ns)


def write_golden(name: str = "golden.yaml", **changes: Any) -> Path:
    path = Path(name)
    path.write_text(yaml.safe_dump({"version": 1, "criteria": LENIENT, "queries": QUERIES, **changes}))
    return path


@pytest.fixture(autouse=True)
def indexed(docs: Path) -> None:
    with Pertinent.open() as pertinent:
        pertinent.index(docs, base_url="https://robots.example/docs")
        paths = {page.source_path for page in pertinent.pages()}
    for query in QUERIES:
        for label in query.get("labels", ()):
            label["page"] = next(path for path in paths if path.endswith(Path(label["page"]).name))


def test_validate_pass_exits_with_0_and_writes_json_and_html(run: Run) -> None:
    write_golden()
    result = run("validate", exits=0)
    assert result.stdout.startswith("PASS")
    (report,) = Path("validation_results").glob("report_*.json")
    assert ValidationReport.model_validate_json(report.read_text()).verdict == "PASS"
    page = report.with_suffix(".html").read_text()
    assert "PASS" in page
    assert str(report) in result.stdout


def test_validate_prints_means_over_answerable_and_all_queries(run: Run) -> None:
    """Rule 12 in docs/seeds.md: two of four queries are answerable, and both are answered first."""
    write_golden()
    printed = run("validate").stdout.partition("Means over the answerable queries and over all queries")[2]
    rows = [line.split() for line in printed.splitlines()[1:6]]
    assert rows[0] == ["answerable", "all"]
    assert rows[2] == ["MRR", "1.000", "0.500"]
    assert rows[4] == ["queries", "2", "4"]


def test_validate_fail_exits_with_1_and_names_the_criterion(run: Run) -> None:
    write_golden(criteria={**LENIENT, "at_least": {"p@5": 0.9}})
    result = run("validate", "golden.yaml", exits=1)
    assert result.stdout.startswith("FAIL")
    assert "Not met: p@5: 0.2 (target: at least 0.9)." in " ".join(result.stdout.split())


def test_validate_invalid_criteria_exit_with_2_and_propose_others(run: Run) -> None:
    """Rule 25 in docs/seeds.md: the proposed flags, given to the same command, end in a verdict."""
    write_golden(criteria={})
    result = run("validate", "golden.yaml")
    printed = " ".join(result.stdout.split())
    assert result.exit_code == 2
    assert printed.startswith(
        "INVALID precision@5 can't be judged with these labels: at most 0/2 answerable queries"
    )
    assert "not judged" in result.stdout.partition("queries with P@5")[2].splitlines()[0]
    flags = re.findall(r"--require ([^ `]+=[^ `]+)", printed)
    assert flags == ["queries_reaching=0", "success@5=0.8", "mrr=0.7"]
    judged = run("validate", "golden.yaml", *(part for flag in flags for part in ("--require", flag)))
    assert judged.exit_code == 0, judged.output
    assert judged.stdout.startswith("PASS  MRR (answerable) 1.00 reaches the target 0.70.")


def test_validate_criteria_that_require_nothing_exit_with_2(run: Run) -> None:
    write_golden(criteria={"precision_at_5": 0.0, "queries_reaching": 0.0, "mrr": 0.0})
    result = run("validate", exits=2)
    assert "INVALID no criterion depends on the ranking" in " ".join(result.stdout.split())


def test_validate_prints_the_next_step_for_a_failed_query(run: Run) -> None:
    away = {"id": "friction", "text": "revolute joint", "labels": QUERIES[1]["labels"]}
    write_golden(queries=[*QUERIES[:2], away], criteria={"queries_reaching": 0, "mrr": 0.1})
    printed = " ".join(run("validate", "--threshold", "0.9").stdout.split())
    failed = printed.partition("Failed queries")[2].partition("Issues")[0]
    assert "friction The answer scores below the threshold: " in failed
    assert "Next: lower the threshold; `pertinent calibrate` proposes one" in failed


def test_validate_check_without_queries_is_not_marked_as_met(run: Run) -> None:
    write_golden()
    (line,) = (line for line in run("validate").stdout.splitlines() if " broad queries " in line)
    assert line.startswith("–")
    assert "nothing to check" in line


def test_validate_names_lost_labels_and_exits_with_2(run: Run) -> None:
    lost = {"page": "gone.md", "quote": "words that stand nowhere at all", "grade": 1}
    write_golden(queries=[{**QUERIES[0], "labels": [*QUERIES[0]["labels"], lost]}])
    result = run("validate", exits=2)
    assert result.stdout.startswith("INVALID")
    assert "words that stand nowhere" in " ".join(result.stdout.split())


def test_validate_lists_all_lost_labels_with_their_lines(run: Run) -> None:
    queries = "\n".join(f"- text: Question {n}\n  labels: docs/gone-{n}.md#part" for n in range(20))
    Path("golden.yaml").write_text(f"queries:\n{queries}\n- text: Where is its label?\n")
    result = run("validate", exits=2)
    output = " ".join(result.stdout.split())
    assert output.startswith("INVALID")
    for number in range(20):
        line = 3 + 2 * number
        assert f"a label of question-{number} (line {line}) is lost: docs/gone-{number}.md#part" in output
    assert "no label of a relevant passage: where-is-its-label (line 42)" in output


def test_validate_groups_the_lost_labels_of_a_removed_page(run: Run) -> None:
    queries = "\n".join(f"- text: Question {n}\n  labels: docs/gone.md#part-{n}" for n in range(20))
    Path("golden.yaml").write_text(f"queries:\n{queries}\n")
    output = " ".join(run("validate", exits=2).stdout.split())
    lines = ", ".join(f"question-{n} (line {3 + 2 * n})" for n in range(20))
    assert f"20 labels on docs/gone.md are lost: {lines} (the page is gone" in output
    assert "a label of" not in output


def test_validate_lists_every_error_of_a_golden_file(run: Run) -> None:
    Path("golden.yaml").write_text("queries:\n- txt: Why?\n- text: How?\n  labels: {page: a.md, grade: 3}\n")
    result = run("validate", exits=2)
    assert result.stderr.splitlines() == [
        "pertinent: golden: golden.yaml has 3 errors:",
        "  line 2, column 3: query 1.text: must be given",
        "  line 2, column 3: query 1.txt: there is no such field; did you mean text?",
        "  line 4, column 31: query 2.labels.0.grade: must be at most 2",
    ]


@pytest.mark.parametrize("command", ["validate", "label", "calibrate"])
def test_missing_or_empty_golden_file_says_how_to_start_one(run: Run, command: str) -> None:
    Path("empty.yaml").write_text("# questions to come\n")
    for name in ("new.yaml", "empty.yaml"):
        result = run(command, name, exits=2)
        assert f"golden: {name}" in result.stderr
        assert "to start one, write `queries: [{text: YOUR QUESTION, labels: ADDRESS}]`" in result.stderr
    assert "to start one" in run("validate").stderr


def test_validate_broken_store_exits_with_2_without_a_report(run: Run) -> None:
    write_golden()
    for folder in Path(".pertinent/index").iterdir():
        shutil.rmtree(folder)
    result = run("validate", exits=2)
    assert "INVALID" in result.stderr
    assert not Path("validation_results").exists()


def test_validate_without_an_index_is_bad_input(run: Run) -> None:
    write_golden()
    shutil.rmtree(".pertinent")
    result = run("validate", exits=2)
    assert "nothing is indexed" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.yaml"], "nowhere.yaml can't be read"),
        (["golden.yaml", "--max-regression", "0.1"], "--max-regression: needs --baseline"),
        (["golden.yaml", "--require", "ndcg"], "NAME=VALUE"),
        (["golden.yaml", "--require", "bogus@3=0.5"], "'bogus@3' is unknown; use one of p@3, p@5"),
        (["golden.yaml", "--require", "span_recall@7=0.5"], "span_recall@5"),
        (["golden.yaml", "--require", "p@5=7"], "criteria.at_least"),
        (["golden.yaml", "--baseline", "nowhere.json"], "nowhere.json can't be read"),
        (["golden.yaml", "--require", "mrr=nan"], "criteria.mrr: must be a finite number"),
        (["golden.yaml", "--require", "ndcg@10=inf"], "criteria.at_least.ndcg@10: must be a finite number"),
        (["golden.yaml", "--url", "localhost"], "http://"),
    ],
)
def test_validate_refuses_bad_input_and_writes_nothing(run: Run, arguments: list[str], message: str) -> None:
    write_golden()
    result = run("validate", *arguments, exits=2)
    assert message in result.stderr
    assert not Path("validation_results").exists()


@pytest.mark.parametrize("option", ["--output", "--junit", "--markdown", "--pin"])
@pytest.mark.parametrize("path", ["taken/within/x", "folder"])
def test_validate_checks_output_paths_before_it_runs(
    run: Run, monkeypatch: pytest.MonkeyPatch, option: str, path: str
) -> None:
    """A file is in place of a folder, or a folder in place of a file."""
    write_golden()
    Path("taken").write_text("")
    Path("folder").mkdir()
    if (option, path) == ("--output", "folder"):
        path = "taken"
    never = Mock(side_effect=AssertionError("the validation ran"))
    monkeypatch.setattr("pertinent.validation.validate.validate", never)
    result = run("validate", option, path, exits=2)
    assert f"{option}: can't write" in result.stderr
    assert not Path("validation_results").exists()


@pytest.mark.parametrize("option", ["--junit", "--markdown", "--pin"])
@pytest.mark.parametrize(
    "output",
    ["golden.yaml", "../{folder}/golden.yaml", "link.yaml", "golden.yaml.judgments.jsonl", "old.json"],
)
def test_validate_never_overwrites_what_it_reads(run: Run, option: str, output: str) -> None:
    before = write_golden().read_text()
    Path("link.yaml").symlink_to("golden.yaml")
    run("validate", "--json", "--output", "earlier")
    newest = max(Path("earlier").glob("report_*.json"))
    shutil.copy(newest, "old.json")
    path = output.format(folder=Path.cwd().name)
    result = run("validate", "golden.yaml", "--baseline", "old.json", option, path, exits=2)
    assert f"{option}: can't write {path}: this run reads it" in result.stderr
    assert Path("golden.yaml").read_text() == before
    assert Path("old.json").read_text() == newest.read_text()
    assert not Path("validation_results").exists()
    assert not Path("golden.yaml.judgments.jsonl").exists()


@pytest.mark.parametrize("output", ["x.qrels", "queries.tsv", "beir/queries.jsonl", "beir/qrels/test.tsv"])
def test_validate_never_overwrites_judgments_or_their_queries(run: Run, output: str) -> None:
    Path("beir/qrels").mkdir(parents=True)
    Path("beir/queries.jsonl").write_text('{"_id": "q", "text": "joints"}')
    Path("beir/qrels/test.tsv").write_text("q\tdocs/joints.md\t1\n")
    Path("queries.tsv").write_text("q\tjoints")
    Path("x.qrels").write_text("q 0 chunk 1")
    before = Path(output).read_text()
    golden = "beir:beir" if output.startswith("beir") else "x.qrels"
    result = run("validate", golden, "--pin", output, exits=2)
    assert "--pin: can't write" in result.stderr
    assert Path(output).read_text() == before


@pytest.mark.parametrize(("first", "second"), [("--pin", "--junit"), ("--junit", "--markdown")])
def test_validate_refuses_two_outputs_to_one_file(run: Run, first: str, second: str) -> None:
    write_golden()
    result = run("validate", first, "out.txt", second, "./out.txt", exits=2)
    assert f"{second}: can't write out.txt: {first} writes the same file" in result.stderr
    assert not Path("out.txt").exists()


def test_validate_may_write_outputs_to_a_device(run: Run) -> None:
    write_golden()
    run("validate", "--junit", "/dev/null", "--markdown", "/dev/null", exits=0)


def test_validate_pins_the_whole_golden_set_also_with_a_limit(run: Run) -> None:
    write_golden()
    result = run("validate", "--limit", "1", "--pin", "pinned.yaml", exits=0)
    assert "Written: pinned.yaml" in result.stdout
    pinned = yaml.safe_load(Path("pinned.yaml").read_text())
    assert [query["id"] for query in pinned["queries"]] == [query["id"] for query in QUERIES]


def test_validate_checks_file_permissions_before_it_runs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_golden()
    Path("results.xml").write_text("kept")
    monkeypatch.setattr("os.access", lambda path, _: Path(path).name != "results.xml")
    result = run("validate", "--junit", "results.xml", exits=2)
    assert "can't write results.xml: no permission to change it" in result.stderr
    assert Path("results.xml").read_text() == "kept"


def test_validate_without_a_golden_set_says_what_to_do(run: Run) -> None:
    result = run("validate", exits=2)
    assert "there is no golden.yaml here" in result.stderr


def test_validate_fits_headings_on_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten kinds of query don't fit beside each other in 80 columns."""
    kinds = [("specific", "factual"), ("broad", "conceptual"), ("paraphrase", "contextual")]
    queries = [
        {**QUERIES[0], "id": kind, "text": f"{kind} limits", "query_type": kind, "category": category}
        for kind, category in kinds
    ]
    write_golden(queries=queries)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run("validate").stdout
    assert max(len(line) for line in narrow.splitlines() if not line.startswith("Written")) <= 80
    assert "…" not in narrow.partition("Means")[2].partition("Issues")[0]
    for kind, category in kinds:
        assert kind in narrow.partition("Means by type")[2]
        assert category in narrow.partition("Means by category")[2]
    monkeypatch.setenv("COLUMNS", "120")
    wide = run("validate").stdout
    assert "Means by category" not in wide
    assert "contextual" in wide.partition("Means")[2]


def test_validate_uses_the_singular_for_one_query(run: Run) -> None:
    write_golden(queries=QUERIES[:2])
    printed = " ".join(run("validate", "--limit", "1").output.split())
    assert "1 queries " not in printed.replace("1/1 queries", "")
    assert "Only the first query of the golden set was run" in printed


def test_validate_json_is_the_report_alone(run: Run) -> None:
    write_golden()
    data = json.loads(run("validate", "--json").stdout)
    assert data["verdict"] == "PASS"
    assert data["total_queries"] == 4


def test_validate_writes_junit_and_markdown(run: Run) -> None:
    write_golden(criteria={})
    run("validate", "--junit", "out/results.xml", "--markdown", "out/summary.md", "--output", "elsewhere")
    suites = ElementTree.parse("out/results.xml").getroot()  # noqa: S314 - our own file
    assert suites.tag == "testsuites"
    assert any(case.find("error") is not None for case in suites.iter("testcase"))
    assert "INVALID" in Path("out/summary.md").read_text()
    assert list(Path("elsewhere").glob("report_*.json"))


@pytest.mark.parametrize(
    "arguments",
    [["--url", "http://127.0.0.1:9"], ["broken.yaml"], ["--require", "mrr=x"], ["--baseline", "none.json"]],
)
def test_validate_without_a_verdict_leaves_no_earlier_one(run: Run, arguments: list[str]) -> None:
    """CI publishes these files whatever the exit code."""
    write_golden()
    Path("broken.yaml").write_text("queries: [{txt: a}]")
    Path("real.md").write_text("")
    Path("link.md").symlink_to("real.md")
    outputs = ["--junit", "results.xml", "--markdown", "link.md"]
    run("validate", *outputs, exits=0)
    assert "PASS" in Path("real.md").read_text()
    run("validate", *outputs, *arguments, exits=2)
    assert [Path(name).exists() for name in ("results.xml", "real.md")] == [False, False]
    assert Path("link.md").is_symlink()


def test_validate_require_and_strict_add_criteria(run: Run) -> None:
    write_golden(answer_threshold=0.0)
    assert run("validate").exit_code == 0
    assert run("validate", "--require", "p@5=1.0").exit_code == 1
    met = run("validate", "--require", "span_recall@5=0.01", "--require", "success@1=0.1", exits=0)
    assert "span_recall@5" in met.stdout.partition("Criteria")[2].partition("Acceptance")[0]
    strict = run("validate", "--strict", exits=1)
    assert "false positives among queries without an answer" in strict.stdout


def test_validate_uses_criteria_of_the_settings_as_defaults(run: Run) -> None:
    write_golden(criteria={"precision_at_5": 0.2})
    assert run("validate").exit_code == 0
    Path("pertinent.toml").write_text("[criteria]\np95_latency_ms = 0.000001\n")
    assert run("validate").exit_code == 1
    write_golden(criteria={"precision_at_5": 0.2, "p95_latency_ms": 2000})
    assert run("validate").exit_code == 0


def test_validate_refuses_an_unknown_criterion(run: Run) -> None:
    write_golden()
    Path("pertinent.toml").write_text("[criteria]\nbeauty = 1\n")
    result = run("validate", exits=2)
    assert "criteria.beauty" in result.stderr


def test_validate_fails_on_a_significant_loss_against_the_baseline(run: Run) -> None:
    """Eight questions that were answered well, on an index that has lost their answers."""
    labels = {"labels": QUERIES[0]["labels"]}
    words = ("limits", "angle", "revolute", "joint", "has limits", "its angle", "a joint", "revolute joint")
    queries = [{"id": word, "text": f"{word} of a revolute joint", **labels} for word in words]
    write_golden(queries=queries, criteria={"queries_reaching": 0.0, "mrr": 0.01})
    assert run("validate").exit_code == 0
    (before,) = Path("validation_results").glob("report_*.json")
    same = run("validate", "--baseline", str(before), exits=0)
    assert "no change" in same.stdout
    path = next(Path("..").resolve().glob("docs/joints.md"))
    path.write_text("# Joints\n\n## Limits\n\nNothing here.\n\n## Friction\n\nFriction slows a joint down.\n")
    with Pertinent.open() as pertinent:
        pertinent.index(path.parent, base_url="https://robots.example/docs")
    # The section is still there, so the labels hold; but others now say more about joints.
    worse = run("validate", "--baseline", str(before), "--ranking", "lexical", exits=1)
    assert "Worse than the baseline" in " ".join(worse.stdout.split())
    newest = newest_report()
    assert json.loads(newest.read_text())["verdict"] == "FAIL"


def test_validate_gives_no_verdict_if_the_baseline_has_too_few_queries(run: Run) -> None:
    write_golden(criteria={"queries_reaching": 0.0, "mrr": 0.5})
    run("validate", exits=0)
    (before,) = Path("validation_results").glob("report_*.json")
    result = run("validate", "--baseline", before, "--threshold", "0.99", "--markdown", "out.md", exits=2)
    printed = " ".join(result.stdout.split())
    assert printed.startswith("INVALID the baseline is not judged: at least 6 queries are needed")
    assert "– baseline = 0 not judged" in printed
    assert "INVALID" in Path("out.md").read_text(encoding="utf-8")
    assert json.loads(newest_report().read_text())["verdict"] == "INVALID"


def test_baseline_is_compared_after_labels_and_queries_changed(run: Run) -> None:
    """One label more, one query more: the queries in both decide, and every output says so."""
    write_golden(criteria=LENIENT)
    assert run("validate").exit_code == 0
    (before,) = Path("validation_results").glob("report_*.json")
    relabelled = {**QUERIES[0], "labels": [*QUERIES[0]["labels"], {"page": "docs/nodes.md", "grade": 1}]}
    added = {"id": "new", "text": "which angle may a joint have", "labels": LIMITS}
    write_golden(queries=[relabelled, *QUERIES[1:], added], criteria=LENIENT)
    result = run("validate", "--baseline", before, "--markdown", "summary.md", exits=0)
    message = "Scored with the labels of AFTER (golden set changed: 1 label added; queries added: new)."
    assert message in " ".join(result.stdout.split())
    assert "no change" in result.stdout
    newest = newest_report()
    criteria = json.loads(newest.read_text())["criteria"]
    assert [message in row["detail"] for row in criteria if row["name"] == "baseline"] == [True]
    assert message in newest.with_suffix(".html").read_text(encoding="utf-8")
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert "### Compared with the baseline" in summary
    assert message in summary
    assert "| p@5 |" in summary


def test_baseline_without_a_common_query_is_refused_before_the_run(run: Run) -> None:
    write_golden()
    run("validate")
    (before,) = Path("validation_results").glob("report_*.json")
    write_golden("other.yaml", queries=[{**QUERIES[0], "text": "something else"}])
    result = run("validate", "other.yaml", "--baseline", str(before), exits=2)
    assert "another golden set" in result.stderr
    assert len(list(Path("validation_results").glob("report_*.json"))) == 1


def test_validate_gives_no_verdict_if_the_baseline_has_nothing_to_compare(run: Run) -> None:
    """The only query in common has no answer left: its label is lost. No output may say PASS."""
    write_golden(queries=QUERIES[:1], criteria=LENIENT)
    run("validate", exits=0)
    (before,) = Path("validation_results").glob("report_*.json")
    lost = {**QUERIES[0], "labels": [{"page": "docs/gone.md", "grade": 1}]}
    added = {"id": "new", "text": "which angle may a joint have", "labels": LIMITS}
    write_golden(queries=[lost, added], criteria=LENIENT | {"lost_labels": 1})
    run("validate", exits=0)
    outputs = ("--junit", "out.xml", "--markdown", "out.md")
    result = run("validate", "--baseline", str(before), *outputs, exits=2)
    message = "INVALID the baseline can't be compared: there is nothing to compare"
    assert " ".join(result.stdout.split()).startswith(message)
    report = json.loads(newest_report().read_text())
    assert report["verdict"] == "INVALID"
    assert [row["passed"] for row in report["criteria"] if row["name"] == "baseline"] == [None]
    assert 'errors="1"' in Path("out.xml").read_text(encoding="utf-8")
    assert "INVALID" in Path("out.md").read_text(encoding="utf-8")


def test_validate_reports_a_golden_set_whose_name_is_not_utf_8(run: Run) -> None:
    name = os.fsdecode(b"golden-\xff.yaml")
    write_golden(name)
    assert json.loads(run("validate", name, "--json").stdout)["golden"]["path"] == "golden-\ufffd.yaml"


def test_validate_limit_runs_the_first_queries(run: Run) -> None:
    write_golden()
    assert json.loads(run("validate", "--json", "--limit", "2").stdout)["total_queries"] == 2


def test_validate_runs_a_beir_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "gears"
    (folder / "qrels").mkdir(parents=True)
    texts = {"1": "A planetary gear sits in the hip.", "2": "A rubber sole grips the floor."}
    corpus = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(corpus))
    queries = '{"_id": "a", "text": "planetary gear"}\n{"_id": "b", "text": "rubber sole"}\n'
    (folder / "queries.jsonl").write_text(queries)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\na\t1\t1\nb\t2\t1\n")
    assert run("index", f"beir:{folder}", "--folder", "beir").exit_code == 0
    result = run("validate", f"beir:{folder}", "--folder", "beir", "--require", "ndcg@10=0.9", exits=0)
    assert result.stdout.startswith("PASS  ndcg@10 (answerable) 1.00 reaches the target 0.90.")
    assert "recall@100" in result.stdout
    assert run("validate", f"beir:{folder}", "--folder", "beir", "--require", "p@5=0.9").exit_code == 1
    demanding_nothing = run("validate", f"beir:{folder}", "--folder", "beir", exits=2)
    assert "--require ndcg@10=0.5" in " ".join(demanding_nothing.stdout.split())


def test_validate_pin_replaces_chunk_ids_by_pages_and_spans(run: Run) -> None:
    with Pertinent.open() as pertinent:
        chunk = pertinent.search("revolute joint limits").hits[0].chunk
    labels = [{"chunk": chunk.chunk_id, "grade": 2}]
    write_golden(queries=[{"id": "limits", "text": "revolute joint limits", "labels": labels}])
    assert run("validate", "--pin", "pinned.yaml").exit_code == 0
    (label,) = yaml.safe_load(Path("pinned.yaml").read_text())["queries"][0]["labels"]
    assert label["page"] == chunk.source_path
    assert label["span"] == [chunk.start, chunk.end]
    assert "chunk" not in label

"""The comparison with other libraries: its protocol, its scorer, its cache and its tables."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import comparing
from peers import catalog, environments, protocol, report, scoring, tasks
from peers.pertinent_peer import PertinentPeer

from .word_overlap import WordOverlap

pytestmark = pytest.mark.slow

FAST = "testing:hashed-words"
TEXTS = {
    "joints": "A revolute joint turns about one axis between two limits.",
    "nodes": "A node publishes messages on topics that other nodes subscribe to.",
    "balance": "The robot keeps its balance while the foot stays below the centre of mass.",
}
QUERIES = {"q1": "revolute joint limits", "q2": "messages on topics", "q3": "keeps its balance"}
ANSWERS = {"q1": "joints", "q2": "nodes", "q3": "balance"}
SCRIPT = Path(__file__).with_name("word_overlap.py")


@pytest.fixture
def beir(tmp_path: Path) -> tasks.DataSet:
    folder = tmp_path / "small-set"
    folder.mkdir()
    documents = [{"_id": key, "title": key.title(), "text": text} for key, text in TEXTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    queries = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    rows = [f"{query}\t{page}\t1" for query, page in ANSWERS.items()]
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]))
    return tasks.DataSet(folder)


@pytest.fixture
def book(tmp_path: Path) -> tasks.DataSet:
    folder = tmp_path / "small-book" / "docs"
    folder.mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(f"# About {name}\n\n{text}\n")
    questions = [{"text": QUERIES["q1"], "pages": ["joints.md"]}]
    (folder.parent / "questions.json").write_text(json.dumps(questions))
    return tasks.DataSet(folder)


def make_task(data_set: tasks.DataSet, tmp_path: Path) -> protocol.Task:
    folder = tmp_path / "task"
    tasks.make_task(data_set, folder, FAST)
    return protocol.load_task(folder)


def test_task_has_the_chunks_with_the_vectors_that_pertinent_indexes(
    beir: tasks.DataSet, tmp_path: Path
) -> None:
    from pertinent.testing.embedder import HashedWords

    task = make_task(beir, tmp_path)
    assert {document.page for document in task.documents} == set(TEXTS)
    expected = list(HashedWords().embed_documents([document.text for document in task.documents]))
    assert np.allclose(task.document_vectors, np.stack(expected))
    assert [query.id for query in task.queries] == list(QUERIES)


def test_task_whose_vectors_do_not_match_is_refused(beir: tasks.DataSet, tmp_path: Path) -> None:
    task = make_task(beir, tmp_path)
    np.save(task.folder / "queries.npy", task.query_vectors[:1])
    with pytest.raises(ValueError, match="3 queries, but 1 vectors"):
        protocol.load_task(task.folder)


def test_measure_records_a_ranking_and_a_time_for_each_query(beir: tasks.DataSet, tmp_path: Path) -> None:
    task = make_task(beir, tmp_path)
    result = protocol.measure(WordOverlap, replace(task, limit=2))
    assert list(result["rankings"]) == list(QUERIES)
    assert all(len(ranking) == 2 for ranking in result["rankings"].values())
    assert len(result["search_ms"]) == len(result["search_cpu_ms"]) == len(QUERIES)
    assert result["versions"] == {"numpy": np.__version__}
    assert {"build_s", "unchanged_s"} <= set(result)


def test_pertinent_answers_as_a_peer_without_the_model(
    beir: tasks.DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(beir, tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    peer = PertinentPeer(task)
    result = protocol.measure(lambda _task: peer, task)
    assert peer.sync().pages_unchanged == len(TEXTS)
    pages = {document.id: document.page for document in task.documents}
    best = {query: pages[ranking[0]] for query, ranking in result["rankings"].items()}
    assert best == ANSWERS


def test_ndcg_and_recall_are_the_means_over_all_queries_and_a_page_counts_by_its_best_chunk() -> None:
    judgments = tasks.Judgments({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}, "q3": {"a": 1}}, {})
    pages = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
    rankings = {"q1": ["b1", "a1", "a2"], "q2": ["a1", "a2", "b1"]}  # q3 got no answer
    scores = scoring.score(rankings, pages, judgments)
    second = 1 / math.log2(3)
    assert scores["ndcg@10"] == pytest.approx((second + second / (1 + second) + 0) / 3, abs=1e-4)
    assert scores["recall@10"] == pytest.approx((1 + 0.5 + 0) / 3, abs=1e-4)


def test_only_the_first_ten_pages_count() -> None:
    pages = {f"chunk{number}": f"page{number}" for number in range(20)}
    judgments = tasks.Judgments({"q1": {"page9": 1}, "q2": {"page10": 1}}, {})
    rankings = {"q1": list(pages), "q2": list(pages)}
    assert scoring.score(rankings, pages, judgments)["recall@10"] == 0.5


def test_readers_questions_and_names_are_scored_by_page(book: tasks.DataSet, tmp_path: Path) -> None:
    task = make_task(book, tmp_path)
    result = protocol.measure(WordOverlap, task)
    pages = {document.id: document.page for document in task.documents}
    titles = {path: f"About {Path(path).stem}" for path in pages.values()}
    scores = scoring.score(result["rankings"], pages, tasks.read_judgments(book, titles))
    assert scores["questions"] == {"n": 1, "in_1": 1.0, "in_5": 1.0}
    assert scores["names"] == {"n": 3, "in_1": 1.0, "in_5": 1.0}
    assert {"names, letters swapped", "names, cut off"} <= set(scores)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 5), (0.95, 10), (0.1, 1)])
def test_percentile_is_a_value_of_the_list(share: float, expected: int) -> None:
    assert scoring.percentile(list(range(10, 0, -1)), share) == expected


@dataclass(frozen=True)
class InPlace:
    """The environment of the tests themselves."""

    calls: list[str]

    def install(self) -> None:
        self.calls.append("install")

    def command(self) -> list[str]:
        self.calls.append("run")
        return [sys.executable, str(SCRIPT)]

    def count_bytes(self) -> int:
        return 5_000_000


@dataclass(frozen=True)
class TestEntry(catalog.PeerEntry):
    __test__ = False
    calls: tuple[list[str], ...] = ()

    def make_environment(self, cache: Path) -> Any:
        return InPlace(self.calls[0])

    def list_files(self) -> list[Path]:
        return [SCRIPT]


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestEntry:
    monkeypatch.setattr(comparing, "CACHE", tmp_path / "cache")
    comparing.prepare_task.cache_clear()
    return TestEntry("overlap", "Overlap", "shared words", embedder=FAST, calls=([],))


def test_peer_runs_in_its_own_process_and_a_second_run_takes_the_result_from_the_cache(
    beir: tasks.DataSet, entry: TestEntry
) -> None:
    assert comparing.run_sets(entry, [beir], again=False) == []
    assert comparing.run_sets(entry, [beir], again=False) == []
    assert entry.calls[0].count("run") == 1
    comparing.run_sets(entry, [beir], again=True)
    assert entry.calls[0].count("run") == 2
    figures = comparing.collect([entry], [beir])["peers"]["overlap"]
    assert figures["sets"]["small-set"]["scores"] == {"ndcg@10": 1.0, "recall@10": 1.0}
    assert figures["installed_mb"] == 5


def test_result_of_another_task_is_measured_again(beir: tasks.DataSet, entry: TestEntry) -> None:
    comparing.run_sets(entry, [beir], again=False)
    (beir.folder / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "joint"}))
    comparing.prepare_task.cache_clear()
    comparing.run_sets(entry, [beir], again=False)
    assert entry.calls[0].count("run") == 2


def test_peer_that_fails_is_named_and_the_others_go_on(
    beir: tasks.DataSet, entry: TestEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such index')"]
    monkeypatch.setattr(InPlace, "command", lambda _: command)
    (message,) = comparing.run_sets(entry, [beir], again=False)
    assert "Overlap failed" in message
    assert "no such index" in message
    assert comparing.collect([entry], [beir])["peers"] == {}


def test_installation_is_repeated_only_when_its_files_change(tmp_path: Path) -> None:
    folder, pins = tmp_path / "environment", tmp_path / "pins.txt"
    pins.write_text("")
    environment = environments.PythonEnvironment(folder, SCRIPT, ["--requirement", str(pins)], [pins])
    environment.install()
    (folder / "marker").touch()
    environment.install()
    assert (folder / "marker").exists()
    pins.write_text("# changed")
    environment.install()
    assert not (folder / "marker").exists()


def peer_figures(title: str, ndcg: float, p50: float) -> dict[str, Any]:
    readers = {kind: {"n": 1, "in_1": ndcg, "in_5": ndcg} for kind in report.KINDS}
    times = {"search_ms": {"p50": p50, "p95": p50}, "build_s": 1.0, "unchanged_s": 1.0}
    common = {"date": "2026-01-01T00:00:00+00:00", **times}
    sets = {
        "set": {**common, "scores": {"ndcg@10": ndcg, "recall@10": ndcg}},
        "book": {**common, "scores": readers},
    }
    return {"title": title, "setup": "", "versions": {"a": "1"}, "installed_mb": 1, "sets": sets}


FIGURES: dict[str, Any] = {
    "sets": {
        "set": {"kind": "beir", "chunks": 3, "queries": 1200, "embedding_s": 0.5},
        "book": {"kind": "docs", "chunks": 3, "queries": 4, "embedding_s": 0.5},
    },
    "peers": {
        "pertinent": peer_figures("Pertinent", 0.70, 8.0),
        "fast": peer_figures("Fast", 0.60, 2.0),
        "better": peer_figures("Better", 0.75, 9.0),
    },
}


def test_best_figure_of_each_column_is_bold() -> None:
    lines = report.make_short_table(FIGURES).splitlines()
    assert "| Better | **0.750** | **0.75** |" in lines[4]
    assert lines[3].endswith("| **2.0** |")
    assert "**" not in lines[2]


def test_peer_that_is_better_somewhere_is_named_there() -> None:
    tables = report.make_tables(FIGURES)
    assert "- set: nDCG@10: Better 0.750; Pertinent 0.700" in tables
    assert "- search, p50 (ms): Fast 2.0; Pertinent 8.0" in tables
    assert "- set: nDCG@10: -6.7 % against Better, the best of the others" in tables


def test_sets_are_listed_with_their_sizes() -> None:
    assert "| set | 3 | 1,200 | 0.5 |" in report.make_tables(FIGURES)


def test_missing_figure_is_a_dash() -> None:
    peers = {**FIGURES["peers"], "partial": {**FIGURES["peers"]["fast"], "title": "Partial", "sets": {
        "set": FIGURES["peers"]["fast"]["sets"]["set"]}}}  # fmt: skip
    last_row = report.make_short_table({**FIGURES, "peers": peers}).splitlines()[-1]
    assert last_row == "| Partial | 0.600 | – | – | – | – | **2.0** |"


def test_plot_has_a_dot_for_each_peer_and_measure() -> None:
    picture = ElementTree.fromstring(report.draw(FIGURES))  # noqa: S314 - our own
    labels = [label.text or "" for label in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert sum(label.startswith("Better: ") for label in labels) == 2 + len(report.KINDS)


@pytest.mark.parametrize(
    ("path", "make"), [(report.COMPARISON, report.make_tables), (report.README, report.make_short_table)]
)
def test_documents_have_the_tables_of_the_stored_figures(path: Path, make: Any) -> None:
    figures = json.loads(comparing.RESULTS.read_text(encoding="utf-8"))
    (block,) = re.findall(
        r"<!-- comparing\.py -->\n(.*?)<!-- end -->", path.read_text(encoding="utf-8"), re.S
    )
    assert block.strip() == make(figures)
    assert report.PICTURE.read_text(encoding="utf-8") == report.draw(figures)


def test_every_library_is_compared_with_pinned_versions() -> None:
    keys = {peer.key for peer in catalog.PEERS}
    named = {"qdrant", "langchain", "llamaindex", "haystack", "txtai", "lancedb", "chroma", "minisearch"}
    assert keys == named | {"pertinent"}
    for path in (environments.HERE / "requirements").glob("*.txt"):
        assert all("==" in line for line in path.read_text().splitlines())

"""`pertinent index`: the sync, its plan, its summary and its refusals."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from pertinent.surfaces.cli import index as command
from pertinent.surfaces.cli.progress import ProgressLines, show_progress
from pertinent.surfaces.library import Pertinent

from .conftest import PAGES, Run


def row(name: str, output: str) -> list[int]:
    match = re.search(rf"^{name}((?: +\d+)+)$", output, re.MULTILINE)
    assert match, output
    return [int(number) for number in match[1].split()]


def test_index_summary_counts_pages_and_chunks(run: Run, docs: Path) -> None:
    result = run("index", docs, exits=0)
    assert row("pages", result.stdout) == [len(PAGES), 0, 0, 0]
    added, changed, unchanged, removed = row("chunks", result.stdout)
    assert (added > 0, changed, unchanged, removed) == (True, 0, 0, 0)
    assert re.search(r"Done in \d+\.\d s, \d+ chunks a second", result.stdout)


def test_index_second_run_changes_nothing(run: Run, docs: Path) -> None:
    run("index", docs)
    result = run("index", docs)
    assert row("pages", result.stdout) == [0, 0, len(PAGES), 0]
    assert "a second" not in result.stdout


def test_index_reads_links_out_of_the_folder_only_with_follow_links(
    run: Run, docs: Path, tmp_path: Path
) -> None:
    (tmp_path / "private.md").write_text("# Private\n\nThe zirconium password.\n", encoding="utf-8")
    (docs / "x.md").symlink_to(tmp_path / "private.md")
    result = run("index", docs, exits=0)
    assert "links that lead outside the source folder: x.md; --follow-links reads them" in result.stdout
    assert "password" not in run("search", "zirconium", "--ranking", "lexical").stdout
    result = run("index", docs, "--follow-links", exits=0)
    assert "outside the source" not in result.stdout
    assert "password" in run("search", "zirconium", "--ranking", "lexical").stdout
    run("index", docs, exits=0)
    assert "password" not in run("search", "zirconium", "--ranking", "lexical").stdout


def test_progress_without_a_terminal_is_lines_on_stderr(run: Run, docs: Path) -> None:
    result = run("index", docs)
    assert "Reading pages: 4\n" in result.stderr
    assert "\x1b" not in result.stderr
    assert "Reading" not in result.stdout


def test_progress_lines_show_rate_and_remaining_time(capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter([0.0, 1.0, 12.0])
    progress = ProgressLines(lambda: next(clock))
    progress.stage("Embedding", 100)
    progress.advance()
    progress.advance(29)
    assert capsys.readouterr().err == ("Embedding: 100\nEmbedding: 30 of 100, 2.5 a second, 28 s left\n")


def test_progress_on_a_terminal_is_bars(run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("index", docs)
    assert re.search(r"Reading pages.*━.*4/4", result.stderr)
    assert "Embedding" in result.stderr
    assert "━" not in result.stdout


def test_dry_run_prints_the_plan_and_creates_no_file(run: Run, docs: Path) -> None:
    result = run("index", docs, "--dry-run", exits=0)
    assert re.search(r"\+ added +docs/nodes\.md: (\d+) of \1 chunks to embed", result.stdout)
    assert "Nothing was written" in result.stdout
    assert list(Path.cwd().iterdir()) == []


def test_dry_run_lists_added_changed_removed_and_unreadable_pages(run: Run, docs: Path) -> None:
    run("index", docs)
    (docs / "new.md").write_text("# New\n\nA new page.\n")
    (docs / "joints.md").write_text(PAGES["joints.md"] + "\n## Damping\n\nDamping too.\n")
    (docs / "intro.md").unlink()
    (docs / "broken.md").write_bytes(b"\xff\xfe# Bad")
    result = run("index", docs, "--dry-run", exits=1)
    assert re.search(r"\+ added +docs/new\.md", result.stdout)
    assert re.search(r"~ changed +docs/joints\.md: 1 of 3 chunks to embed", result.stdout)
    assert re.search(r"- removed +docs/intro\.md", result.stdout)
    assert re.search(r"! unreadable +docs/broken\.md", result.stdout)
    assert "2 pages unchanged" in result.stdout
    assert len(Pertinent.open().pages()) == len(PAGES)


def test_index_reports_an_unreadable_file_and_indexes_the_others(run: Run, docs: Path) -> None:
    (docs / "broken.md").write_bytes(b"\xff\xfe# Bad")
    result = run("index", docs, exits=1)
    assert "1 page could not be indexed" in result.stderr
    assert re.search(r"^ +docs/broken\.md: .+", result.stderr, re.MULTILINE)
    assert row("pages", result.stdout) == [len(PAGES), 0, 0, 0]


def test_index_refuses_a_source_that_shrank_by_more_than_a_quarter(run: Run, docs: Path) -> None:
    run("index", docs)
    (docs / "nodes.md").unlink()
    (docs / "joints.md").unlink()
    for arguments in (["--dry-run"], []):
        result = run("index", docs, *arguments, exits=1)
        assert "--allow-shrink" in result.stderr
        assert "Traceback" not in result.stderr
    assert row("pages", run("index", docs, "--allow-shrink").stdout) == [0, 0, 2, 2]


def test_ctrl_c_exits_with_130_with_advice(run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_index", stop)
    result = run("index", docs, exits=130)
    assert "the same command resumes the rest" in result.stderr
    assert "Traceback" not in result.stderr


def test_ctrl_c_during_remove_says_what_to_do(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pertinent, "remove", stop)
    assert "the same command removes the others" in run("remove", "docs", exits=130).stderr


def test_ctrl_c_stops_after_the_current_step() -> None:
    reached = []

    def work() -> None:
        with show_progress() as progress:
            progress.stage("Embedding", 3)
            signal.raise_signal(signal.SIGINT)
            reached.append("the end of the step")
            progress.advance()
            reached.append("the next step")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["the end of the step"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_second_ctrl_c_stops_at_once() -> None:
    reached = []

    def work() -> None:
        with show_progress():
            signal.raise_signal(signal.SIGINT)
            reached.append("between")
            signal.raise_signal(signal.SIGINT)
            reached.append("after")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert reached == ["between"]

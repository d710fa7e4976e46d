"""The pytest plugin, run by pytest as its users run it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pertinent import Pertinent
from pertinent.validation.golden.golden_set import parse_golden
from pertinent.workspace.workspace import Workspace

from ..http.conftest import settings_in
from ..servers.service import running_service

pytestmark = pytest.mark.slow

PAGES = {
    "docs/joints.md": "# Joints\n\n## Limits\n\nA revolute joint has limits for its angle.\n",
    "docs/nodes.md": "# Nodes\n\n## Topics\n\nNodes publish messages on topics.\n",
    "pertinent.toml": 'embedder = "testing:hashed-words"\n',
}
CRITERIA = "criteria: {queries_reaching: 0, mrr: 0, at_least: {success@5: 0.5}}\n"
LIMITS = "- {id: limits, text: limits of a revolute joint, labels: docs/joints.md#limits}\n"
TOPICS = "- {id: topics, text: messages on topics, labels: docs/nodes.md#topics}\n"
MISSED = (
    "- {id: missed, text: messages on topics, filters: {section: Topics}, labels: docs/joints.md#limits}\n"
)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small book, indexed.

    It is also validated once: what pytest imports inside a test is unloaded after it, and some modules can't
    be imported twice.
    """
    folder = tmp_path_factory.mktemp("project")
    for name, text in PAGES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with Pertinent.open(folder / ".pertinent", embedder="testing:hashed-words") as pertinent:
        pertinent.index(folder / "docs")
        pertinent.validate(parse_golden(f"queries:\n{LIMITS}", "golden.yaml"))
    return folder


@pytest.fixture
def project(
    indexed: Path, pytester: pytest.Pytester, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A copy of that folder, where pytest runs without the plugins that this suite leaves out."""
    shutil.copytree(indexed, pytester.path, dirs_exist_ok=True)
    monkeypatch.chdir(pytester.path)
    names = [option for option in pytestconfig.getini("addopts") if option.startswith("no:")]
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p {name}" for name in names))
    return pytester


def write_golden(project: pytest.Pytester, *queries: str, criteria: str = CRITERIA) -> Path:
    path = project.path / "golden.yaml"
    path.write_text(criteria + "queries:\n" + "".join(queries), encoding="utf-8")
    return path


def test_each_query_and_the_verdict_is_a_test(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS, TOPICS)
    result = project.runpytest("-v")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        ["golden.yaml::query?limits? PASSED*", "golden.yaml::query?topics? PASSED*", "*::verdict PASSED*"]
    )


def test_failed_query_shows_its_diagnosis_and_no_traceback(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS, MISSED)
    result = project.runpytest()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "none of the first 5 results is relevant",
            "Its filter keeps the answer out: *",
            "next: change the query's filters, or its labels",
            "missed (label 2): *",
            "query: messages on topics",
            "FAILED golden.yaml::query?missed? - none of the first 5 results is relevant",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()


def test_failed_verdict_shows_the_criteria_that_are_not_met(project: pytest.Pytester) -> None:
    write_golden(project, MISSED)
    result = project.runpytest("-k", "verdict")
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["FAIL*", "not met: success@5: 0.000, target: ≥ 0.50"])


def test_text_of_the_golden_set_is_harmless_in_a_terminal(project: pytest.Pytester) -> None:
    """No escape sequence, and no line that a CI system takes for a command."""
    text = r"messages \e]0;title\a on \e[2J topics\n::error::of the query"
    query = MISSED.replace("missed", r'"missed\e[31m"').replace("text: messages on topics", f'text: "{text}"')
    write_golden(project, query)
    for options in (["-v"], ["-rx", "--pertinent-verdict-decides"]):
        output = project.runpytest(*options).stdout.str()
        assert "query: messages on topics ::error::of the query" in output or "XFAIL" in output
        assert "query[missed]" in output
        assert "\x1b" not in output
        assert "\a" not in output
        assert "\n::error" not in output


def test_verdict_can_decide_alone(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS, MISSED)
    result = project.runpytest("--pertinent-verdict-decides", "-rx")
    result.assert_outcomes(passed=2, xfailed=1)
    result.stdout.fnmatch_lines(["XFAIL golden.yaml::query?missed? - *Its filter keeps the answer out*"])
    write_golden(project, MISSED)
    project.runpytest("--pertinent-verdict-decides").assert_outcomes(failed=2)


def test_lost_label_is_reported_with_its_line(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS, "- {id: gone, text: gone, labels: docs/gone.md#gone}\n")
    result = project.runpytest("-k", "verdict")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(["INVALID*", "*line 4*docs/gone.md#gone*"])


def test_golden_set_with_errors_is_a_collection_error_with_lines(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS, "- {id: limits, txt: misspelt}\n")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*golden.yaml has * errors:", "*line 4*txt*"])


def test_missing_index_is_reported_as_such(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS)
    result = project.runpytest("--pertinent-folder", "empty")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*pertinent index*"])
    assert not (project.path / "empty").exists()


def test_fixture_book_is_the_index_that_the_queries_use(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS)
    project.makepyfile(
        """
        from pertinent import Pertinent

        def test_first_hit(book):
            assert isinstance(book, Pertinent)
            assert book.search("revolute joint").hits[0].chunk.anchor == "limits"
        """
    )
    project.runpytest().assert_outcomes(passed=3)


def test_folder_can_be_named(project: pytest.Pytester, tmp_path: Path) -> None:
    write_golden(project, LIMITS)
    (project.path / ".pertinent").rename(tmp_path / "elsewhere")
    project.runpytest("--pertinent-folder", str(tmp_path / "elsewhere")).assert_outcomes(passed=2)


def test_service_can_be_named(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write_golden(project, LIMITS, MISSED)
    project.makepyfile(
        """
        from pertinent import PertinentClient

        def test_client(book):
            assert isinstance(book, PertinentClient)
        """
    )
    workspace = Workspace(settings_in(project.path / ".pertinent", chunk_tokens=200))
    monkeypatch.setenv("PERTINENT_API_KEYS", "secret-key")
    try:
        with running_service(workspace, api_keys=["secret-key"]) as url:
            result = project.runpytest("--pertinent-url", url)
    finally:
        workspace.close()
    result.assert_outcomes(passed=3, failed=1)
    assert "secret-key" not in result.stdout.str()


def test_service_and_folder_together_are_refused(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS)
    result = project.runpytest("--pertinent-url", "http://127.0.0.1:9", "--pertinent-folder", ".")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: give --pertinent-url or --pertinent-folder, not both"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--pertinent-folder", "empty", "*nothing is indexed in empty yet; run `pertinent index PATH`"),
        ("--pertinent-url", "localhost:8000", "*url: must begin with http:// or https://, not *"),
        (
            "--pertinent-url",
            "http://127.0.0.1:9",
            "*does not answer: *that the service runs*",
        ),
    ],
)
def test_fixture_book_says_what_is_missing_without_a_traceback(
    project: pytest.Pytester, option: str, value: str, message: str
) -> None:
    project.makepyfile("def test_first_hit(book): pass")
    result = project.runpytest_subprocess(option, value)  # httpx can't be imported twice
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()
    assert "site-packages" not in result.stdout.str()
    assert "def book" not in result.stdout.str()


def test_golden_files_are_named_in_the_configuration(project: pytest.Pytester) -> None:
    write_golden(project, LIMITS).rename(project.path / "hard.yaml")
    project.runpytest().assert_outcomes()
    project.runpytest("hard.yaml").assert_outcomes(passed=2)
    project.makeini("[pytest]\npertinent_golden = golden.yaml hard.yaml\n")
    project.runpytest().assert_outcomes(passed=2)
    write_golden(project, LIMITS)
    project.makeini("[pytest]\npertinent_golden =\n")
    project.runpytest().assert_outcomes()


IN_ONE_LINE = f"{{{CRITERIA.strip()}, queries: [{LIMITS.strip().removeprefix('- ')}]}}"


@pytest.mark.parametrize(
    "text",
    [
        f"\ufeffqueries:\n{LIMITS}{CRITERIA}",
        IN_ONE_LINE,
        f"--- {IN_ONE_LINE}",
        f"  queries:\n  {LIMITS}  {CRITERIA}",
    ],
    ids=["byte order mark", "one line", "document", "indented"],
)
def test_no_form_of_a_golden_set_is_skipped(project: pytest.Pytester, text: str) -> None:
    (project.path / "golden.yaml").write_text(text, encoding="utf-8")
    project.runpytest().assert_outcomes(passed=2)


def test_no_file_that_the_configuration_names_is_skipped(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\npertinent_golden = set.json labels.csv typo.yaml *.yml\n")
    query = {"text": "limits of a revolute joint", "labels": "docs/joints.md#limits"}
    criteria = {"queries_reaching": 0}
    (project.path / "set.json").write_text(json.dumps({"criteria": criteria, "queries": [query]}))
    (project.path / "compose.yml").write_text("services: {}\n")
    project.runpytest().assert_outcomes(passed=2)
    (project.path / "labels.csv").write_text("text,page\nlimits of a joint,docs/gone.md\n")
    (project.path / "typo.yaml").write_text(f"querys:\n{LIMITS}")
    result = project.runpytest("--continue-on-collection-errors")
    result.assert_outcomes(passed=2, failed=2, errors=1)


def test_files_of_other_tools_are_left_alone(project: pytest.Pytester) -> None:
    for name, text in {"golden.yaml": "snapshots:\n  queries: 3\n", "queries.yaml": "queries: []\n"}.items():
        (project.path / name).write_text(text, encoding="utf-8")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_file_of_blank_lines_does_not_block_the_collection(project: pytest.Pytester) -> None:
    (project.path / "golden.yaml").write_text("\n" * 1_000_000)
    assert project.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.slow
def test_plugin_imports_nothing_heavy_without_a_golden_set(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        """
        import json, sys

        def test_nothing():
            with open("modules.json", "w") as file:
                json.dump(sorted(sys.modules), file)
        """
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.runpytest_subprocess("-p", "pertinent.integrations.pytest_plugin").assert_outcomes(passed=1)
    modules = json.loads((pytester.path / "modules.json").read_text(encoding="utf-8"))
    plugin = ["pertinent", "pertinent.integrations", "pertinent.integrations.pytest_plugin"]
    assert [name for name in modules if name.split(".")[0] == "pertinent"] == plugin
    assert not {"numpy", "pydantic", "httpx", "yaml", "typer"} & set(modules)

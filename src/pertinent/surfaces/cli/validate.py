"""`pertinent validate`: run a golden set and print the verdict (seed 000)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import EmbedderError, InvalidInput, StoreError
from ...types import Ranking
from ...validation.options import MOST_AT_ONCE
from .error_reporting import BAD_INPUT, print_notice
from .global_options import get_global_options, open_reader
from .output_paths import (
    check_file_is_writable,
    check_files_are_distinct,
    check_folder_is_writable,
    remove_old_output,
)
from .terminal import print_json, render, write

if TYPE_CHECKING:
    from ...validation.comparison.compare import Comparison
    from ...validation.golden.golden_set import GoldenSet
    from ...validation.report import ValidationReport
    from ...validation.target import ValidationTarget

EXIT_CODES = {"PASS": 0, "FAIL": 1, "INVALID": BAD_INPUT}
DEFAULT_GOLDEN = "golden.yaml"

_RUN = "Run"
_VERDICT = "Verdict"
_OUTPUT = "Output"


def validate(  # noqa: PLR0913, PLR0917 - a command's options are its arguments
    context: typer.Context,
    golden: Annotated[
        str | None,
        typer.Argument(
            metavar="GOLDEN",
            help="A golden set: a YAML, JSON, CSV or TREC qrels file, or beir:FOLDER. Default: the setting "
            "`golden`, or golden.yaml.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Validate the service at this address instead of the local index.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    ranking: Annotated[
        Ranking | None,
        typer.Option(metavar="NAME", help="hybrid, dense or lexical.", rich_help_panel=_RUN),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            metavar="SCORE", min=0.0, max=1.0, help="The minimum score of a hit.", rich_help_panel=_RUN
        ),
    ] = 0.0,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Run only the first N queries.", rich_help_panel=_RUN),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_AT_ONCE,
            help="How many queries to run at the same time.",
            rich_help_panel=_RUN,
        ),
    ] = 1,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A requirement: the minimum of a mean such as success@5=0.8 or ndcg@10=0.6, or a criterion "
            "such as mrr=0.6; queries_reaching=0 switches P@5 off. May be repeated.",
            show_default=False,
            rich_help_panel=_VERDICT,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="REPORT",
            help="Fail if the run is significantly worse than this report, on the queries in both.",
            rich_help_panel=_VERDICT,
        ),
    ] = None,
    max_regression: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0.0,
            max=1.0,
            help="With --baseline: how far a mean may drop. Default: 0.0.",
            rich_help_panel=_VERDICT,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder for reports. Default: validation_results.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    junit: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write JUnit XML.", rich_help_panel=_OUTPUT),
    ] = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also write a summary in Markdown, for a CI page.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    pin: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the golden set with a page, a quote and a span instead of each chunk id.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    *,
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank",
            help="Rerank the best hits, or not. Default: hits of the ranking hybrid are reranked if "
            "`reranker` is set.",
            show_default=False,
            rich_help_panel=_RUN,
        ),
    ] = None,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Also check all stored chunks.", rich_help_panel=_RUN),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Make the acceptance checks part of the verdict.", rich_help_panel=_VERDICT
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the report as JSON and nothing else.", rich_help_panel=_OUTPUT),
    ] = False,
) -> None:
    """Run a golden set and print whether retrieval works: PASS, FAIL or INVALID.

    Measures precision, MRR, latency, metadata and hashes, explains why each failed
    query failed, and writes a report as JSON and as a web page.

    For example:
      pertinent validate golden.yaml
      pertinent validate golden.yaml --audit --junit results.xml
      pertinent validate golden.yaml --baseline validation_results/report_20260131_093000.json
      pertinent validate beir:data/redux-faq --ranking dense --require ndcg@10=0.5
      pertinent validate golden.yaml --url http://127.0.0.1:8000

    Exit codes: 0 PASS; 1 FAIL; 2 invalid input, or INVALID: no verdict is possible,
    because labels are lost or too few for the criteria, the criteria require
    nothing, the baseline can't be compared or has too few queries, the service runs
    another search, a sync is not complete, or a store is down.
    """
    from ...validation.comparison.compare import (
        add_baseline_criterion,
        add_incomparable_baseline,
        compare_reports,
        find_regressions,
    )
    from ...validation.criteria import merge_criteria
    from ...validation.golden.formats import list_golden_files, read_golden
    from ...validation.golden.golden_set import dump_golden
    from ...validation.labels.pinning import pin_labels
    from ...validation.options import ValidationOptions
    from ...validation.validate import NoVerdict
    from ...validation.validate import validate as run_validation
    from .progress import show_progress

    if max_regression is not None and baseline is None:
        raise InvalidInput("--max-regression", "needs --baseline")
    settings = get_global_options(context).load_settings().settings
    path = golden or _find_default_golden(settings.golden)
    check_folder_is_writable("--output", Path(output or settings.reports))
    inputs = [*list_golden_files(path), *([Path(baseline)] if baseline else [])]
    _prepare_outputs({"--pin": pin, "--junit": junit, "--markdown": markdown}, inputs)
    golden_set = read_golden(path)
    options = ValidationOptions(
        ranking=ranking,
        threshold=threshold,
        rerank=rerank,
        concurrency=concurrency,
        audit=audit,
        path=os.fsencode(path).decode(errors="replace"),  # a name that is not UTF-8 can't be in JSON
        limit=limit,
    )
    criteria = merge_criteria(
        settings.criteria, golden_set.criteria, parse_requirements(require or ()), strict=strict
    )
    baseline_report = _load_baseline(baseline, golden_set) if baseline else None
    try:
        with _open_target(context, url) as target, show_progress() as progress:
            result = run_validation(target, golden_set, options, criteria, progress)
            if pin:
                dump_golden(pin_labels(golden_set, target.pages()), pin)
    except (NoVerdict, StoreError, EmbedderError) as error:
        print_notice(f"INVALID: {error}")
        raise typer.Exit(BAD_INPUT) from error
    comparison = None
    if baseline_report:
        try:
            comparison = compare_reports(baseline_report, result)
        except InvalidInput as error:
            result = add_incomparable_baseline(result, error.message)
        else:
            losses = find_regressions(comparison, max_regression or 0.0)
            result = add_baseline_criterion(result, comparison, losses)
    written = _write_reports(result, output or settings.reports, junit, markdown, comparison)
    if pin:
        written.append(Path(pin))
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        from .validation_output import print_report

        write(render(lambda out: print_report(out, result, written, comparison)))
    raise typer.Exit(EXIT_CODES[result.verdict])


def _prepare_outputs(files: Mapping[str, str | None], inputs: Iterable[Path]) -> None:
    """Check the output files; delete those of an earlier run, which CI would publish if this run fails."""
    outputs = {option: Path(file) for option, file in files.items() if file}
    for option, file in outputs.items():
        check_file_is_writable(option, file)
    check_files_are_distinct(outputs, inputs)
    for option in {"--junit", "--markdown"} & {*outputs}:
        remove_old_output(outputs[option])


def _find_default_golden(setting: Path | None) -> str:
    path = setting or Path(DEFAULT_GOLDEN)
    if not path.exists():
        from ...validation.golden.golden_set import HOW_TO_START

        raise InvalidInput(
            "golden", f"there is no {path} here; name a golden set, or set `golden`; {HOW_TO_START}"
        )
    return str(path)


def _load_baseline(path: str, golden_set: GoldenSet) -> ValidationReport:
    """Load the report to compare with; raise InvalidInput if it can't be compared."""
    from ...validation.comparison.golden_change import check_baseline
    from ...validation.report_files import load_report

    try:
        baseline_report = load_report(path)
        check_baseline(baseline_report, golden_set)
    except InvalidInput as error:
        raise InvalidInput("--baseline", error.message) from error
    return baseline_report


def parse_requirements(arguments: Sequence[str]) -> dict[str, float]:
    """Parse `NAME=VALUE` arguments into the minimum of each mean or criterion.

    Examples:
        >>> parse_requirements(["ndcg@10=0.6", "mrr=0.5"])
        {'ndcg@10': 0.6, 'mrr': 0.5}
    """
    requirements = {}
    for argument in arguments:
        name, _, minimum = argument.partition("=")
        try:
            requirements[name] = float(minimum)
        except ValueError:
            raise InvalidInput(
                "--require", f"must be NAME=VALUE, for example ndcg@10=0.6, not {argument!r}"
            ) from None
    return requirements


@contextmanager
def _open_target(context: typer.Context, url: str | None) -> Iterator[ValidationTarget]:
    """Open what is validated: the service at the address, or the index in the folder."""
    from ..library import Pertinent
    from ..validation_targets import LocalPipeline, RemoteService

    settings = get_global_options(context).load_settings().settings
    if url is None:
        with open_reader(settings) as reader:
            if isinstance(reader, Pertinent):
                yield LocalPipeline(reader.workspace)
            else:
                yield RemoteService(reader)
        return
    keys = settings.api_keys
    service = RemoteService.connect(url, keys[0].get_secret_value() if keys else None)
    with service.client:
        yield service


def _write_reports(
    result: ValidationReport,
    folder: str | Path,
    junit: str | None,
    markdown: str | None,
    comparison: Comparison | None = None,
) -> list[Path]:
    """Write the report as JSON, HTML and in the requested formats; return the paths."""
    from ...validation import rendering
    from ...validation.report_files import save_report

    path = save_report(result, folder)
    texts = {path.with_suffix(".html"): rendering.render_html(result)}
    if junit:
        texts[Path(junit)] = rendering.render_junit(result)
    if markdown:
        summary = f"\n{rendering.render_markdown_comparison(comparison)}" if comparison else ""
        texts[Path(markdown)] = rendering.render_markdown(result) + summary
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [path, *texts]

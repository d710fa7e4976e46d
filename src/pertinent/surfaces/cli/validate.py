"""`pertinent validate`: seed 000's door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import EmbedderError, InvalidInput, StoreError
from ...limits import ENGINE, check_count
from ...types import Ranking
from .failures import BAD_INPUT, say
from .opening import choices, number, opened
from .terminal import layout, print_json, write
from .writing import check_file, check_folder

if TYPE_CHECKING:
    from ...validation.comparison.compare import Comparison
    from ...validation.report import ValidationReport
    from ...validation.target import ValidationTarget

EXIT = {"PASS": 0, "FAIL": 1, "INVALID": BAD_INPUT}
DEFAULT = "golden.yaml"

_RUN = "What is run"
_JUDGED = "How it is judged"
_WRITTEN = "What is written"


def validate(  # noqa: PLR0913, PLR0917 - a command's options are its arguments
    context: typer.Context,
    golden: Annotated[
        str | None,
        typer.Argument(
            metavar="GOLDEN",
            help="A golden set: YAML, JSON, CSV, TREC qrels, or beir:DIR; golden.yaml here unless given.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Validate the service at this address, not this folder.", rich_help_panel=_RUN
        ),
    ] = None,
    ranking: Annotated[
        Ranking | None,
        typer.Option(metavar="NAME", help="hybrid, dense or lexical.", rich_help_panel=_RUN),
    ] = None,
    threshold: Annotated[
        str,
        typer.Option(metavar="SCORE", help="Search with this threshold, 0.0-1.0.", rich_help_panel=_RUN),
    ] = "0.0",
    limit: Annotated[
        str | None,
        typer.Option(metavar="N", help="Only the first N queries.", rich_help_panel=_RUN),
    ] = None,
    concurrency: Annotated[
        str,
        typer.Option(metavar="N", help="How many queries are asked at a time, 1-64.", rich_help_panel=_RUN),
    ] = "1",
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="What must be reached: a mean such as success@5=0.8 or ndcg@10=0.6, or a criterion such as "
            "mrr=0.6; queries_reaching=0 asks for no P@5. May be repeated.",
            show_default=False,
            rich_help_panel=_JUDGED,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="REPORT",
            help="Fail on a significant loss against this report, on the queries in both.",
            rich_help_panel=_JUDGED,
        ),
    ] = None,
    max_regression: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="With --baseline: how much a mean may lose, 0.0-1.0; 0.0 unless given.",
            rich_help_panel=_JUDGED,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Where reports are kept: validation_results unless set.",
            rich_help_panel=_WRITTEN,
        ),
    ] = None,
    junit: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write JUnit XML too.", rich_help_panel=_WRITTEN),
    ] = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write a summary for a CI page too, in Markdown.", rich_help_panel=_WRITTEN
        ),
    ] = None,
    pin: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the golden set with a page, a quote and a span in place of each chunk id.",
            rich_help_panel=_WRITTEN,
        ),
    ] = None,
    *,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit", help="Check everything that is stored, not only what is found.", rich_help_panel=_RUN
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Let the acceptance checks count in the verdict.", rich_help_panel=_JUDGED
        ),
    ] = False,
    json_: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the whole report as JSON and nothing else.", rich_help_panel=_WRITTEN
        ),
    ] = False,
) -> None:
    """Run a golden set, and say whether retrieval works: PASS, FAIL, or INVALID.

    Precision, MRR, latency, metadata and hashes, each with its interval; why each
    query failed; and a report as JSON and as a page to look at.

    For example:
      pertinent validate golden.yaml
      pertinent validate golden.yaml --audit --junit results.xml
      pertinent validate golden.yaml --baseline validation_results/report_20260131_093000.json
      pertinent validate beir:data/redux-faq --ranking dense --require ndcg@10=0.5
      pertinent validate golden.yaml --url http://127.0.0.1:8000

    Exit codes: 0 PASS; 1 FAIL; 2 INVALID (labels that point at nothing, criteria
    that the labels can't meet or that ask nothing, a store that is down: nothing
    can be said), or bad input.
    """
    from ...validation import report
    from ...validation.comparison.compare import add_baseline_criterion, compare_reports, find_regressions
    from ...validation.comparison.golden_change import check_baseline
    from ...validation.criteria import merge_criteria
    from ...validation.golden import formats as exchange
    from ...validation.golden.golden_set import dump_golden
    from ...validation.labels.pinning import pin_labels
    from ...validation.options import MOST_AT_ONCE, Options
    from ...validation.validate import NoVerdict
    from ...validation.validate import validate as judge
    from .progress import progress

    if max_regression is not None and baseline is None:
        raise InvalidInput("max_regression", "goes with --baseline")
    settings = choices(context).load().settings
    place = golden or _usual_place(settings.golden)
    first = None if limit is None else check_count("limit", number(limit), 10**9)
    asked = exchange.read_golden(place, first)
    options = Options(
        ranking=ranking,
        threshold=ENGINE.check_threshold(number(threshold)),
        concurrency=check_count("concurrency", number(concurrency), MOST_AT_ONCE),
        audit=audit,
        path=place,
        # A golden set that has fewer was asked in full.
        limit=None if first is None or len(asked.queries) < first else first,
    )
    allowed = replace(ENGINE, threshold="max_regression").check_threshold(number(max_regression or "0.0"))
    criteria = merge_criteria(settings.criteria, asked.criteria, _required(require or ()), strict=strict)
    before = report.load(baseline) if baseline else None
    if before:
        check_baseline(before, asked)
    check_folder("output", Path(output or settings.reports))
    for option, file in (("junit", junit), ("markdown", markdown), ("pin", pin)):
        if file:
            check_file(option, Path(file))
    try:
        with _subject(context, url) as subject, progress() as told:
            found = judge(subject, asked, options, criteria, told)
            if pin:
                dump_golden(pin_labels(asked, subject.pages()), pin)
    except (NoVerdict, StoreError, EmbedderError) as error:
        say(f"INVALID: {error}")
        raise typer.Exit(BAD_INPUT) from error
    compared = None
    if before:
        try:
            compared = compare_reports(before, found)
        except InvalidInput as error:
            # The run itself is not lost.
            _write(found, output or settings.reports, junit, markdown)
            raise InvalidInput("baseline", str(error).removeprefix("report: ")) from error
        found = add_baseline_criterion(found, compared, find_regressions(compared, allowed))
    written = _write(found, output or settings.reports, junit, markdown, compared)
    if json_:
        print_json(found.model_dump(mode="json"))
    else:
        from .verdict import print_verdict

        write(layout(lambda out: print_verdict(out, found, written, compared)))
    raise typer.Exit(EXIT[found.verdict])


def _usual_place(setting: Path | None) -> str:
    place = setting or Path(DEFAULT)
    if not place.exists():
        from ...validation.golden.golden_set import HOW_TO_START

        raise InvalidInput(
            "golden", f"there is no {place} here; name a golden set, or set `golden`; {HOW_TO_START}"
        )
    return str(place)


def _required(given: Sequence[str]) -> dict[str, float]:
    """`NAME=VALUE` pairs as means or criteria, and what each must reach."""
    further = {}
    for one in given:
        name, equals, text = one.partition("=")
        value = number(text)
        if not equals or isinstance(value, str):
            raise InvalidInput("require", f"must be NAME=VALUE, for example ndcg@10=0.6, not {one!r}")
        further[name] = float(value)
    return further


@contextmanager
def _subject(context: typer.Context, url: str | None) -> Iterator[ValidationTarget]:
    from ..subjects import Local, Remote

    if url is None:
        with opened(context) as pertinent:
            yield Local(pertinent.workspace)
        return
    keys = choices(context).load().settings.api_keys
    remote = Remote.at(url, keys[0].get_secret_value() if keys else None)
    with remote.client:
        yield remote


def _write(
    found: ValidationReport,
    folder: str | Path,
    junit: str | None,
    markdown: str | None,
    compared: Comparison | None = None,
) -> list[Path]:
    """The report as JSON and as a page beside it, and whatever else was asked for."""
    from ...validation import rendering, report

    path = report.save(found, folder)
    others = {path.with_suffix(".html"): rendering.render_html(found)}
    if junit:
        others[Path(junit)] = rendering.render_junit(found)
    if markdown:
        comparison = f"\n{rendering.render_markdown_comparison(compared)}" if compared else ""
        others[Path(markdown)] = rendering.render_markdown(found) + comparison
    for place, text in others.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return [path, *others]

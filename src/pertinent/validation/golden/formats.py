"""Read and write golden sets in any format: YAML, JSON, CSV tables, BEIR folders, and TREC qrels and runs.

All formats are read strictly: an error names the file and the line.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ..._internal.safe_json import parse_json
from ...errors import InvalidInput
from ..criteria import Criteria
from ..labels import judgments
from ..labels.resolve import ResolvedQuery
from .csv_tables import WHOLE_NUMBER, read_table, write_table
from .errors import build_model
from .golden_set import GoldenQuery, GoldenSet, Unit, load_golden_file, record_unjudged
from .text_files import AnyPath, read_utf8, write_atomically

__all__ = [
    "Qrels",
    "Run",
    "build_golden",
    "build_qrels",
    "list_golden_files",
    "read_beir",
    "read_golden",
    "read_qrels",
    "read_run",
    "read_table",
    "write_beir",
    "write_qrels",
    "write_run",
    "write_table",
]

Qrels = dict[str, dict[str, int]]
"""Grades by query and by chunk or document. A TREC grade may be outside 0 to 2, such as -2 or 4."""
Run = dict[str, list[tuple[str, float]]]
"""A ranked list of ids with scores for each query, best first."""

MAX_GRADE = 2
MAX_ID_LENGTH = 100
_QRELS_COLUMNS = ("query", "0", "document", "grade")
_BEIR_COLUMNS = ("query-id", "corpus-id", "score")
_RUN_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")


def read_golden(spec: str, limit: int | None = None, *, include_judgments: bool = True) -> GoldenSet:
    """Read a golden set in any format.

    `.yaml`, `.yml` and `.json` are Pertinent's own format. `.csv` and `.tsv` are tables with one row per
    label. `.qrels`, `.txt`, and a `.tsv` that begins with `query-id`, are judgments of passages by chunk id;
    their queries are beside the file, in `STEM.queries.tsv`, `queries.tsv` or `queries.jsonl`.

    Args:
        spec: `beir:DIR`, or a file whose format its suffix tells.
        limit: How many queries to read, the first ones; all unless given.
        include_judgments: Whether to add the labels that `pertinent label` saved beside the file.

    Examples:
        >>> read_golden("beir:data/scifact", limit=100)  # doctest: +SKIP
    """
    _check_limit(limit)
    if spec.startswith("beir:"):
        return read_beir(Path(spec.removeprefix("beir:")).expanduser(), limit)
    path = Path(spec).expanduser()
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml", ".json"):
        golden = load_golden_file(path)
    elif (is_trec := _is_trec(path)) or _is_beir_table(path):
        texts = _read_queries(_find_queries_beside(path))
        rows = _read_trec_rows(path) if is_trec else _read_beir_rows(path)
        golden = build_golden(_collect_grades(rows, texts), texts, path.stem)
    elif suffix in (".csv", ".tsv"):
        golden = read_table(path)
    else:
        raise InvalidInput(
            "golden", f"{spec} has an unknown format; give beir:DIR, .yaml, .json, .csv or .qrels"
        )
    if include_judgments:
        log = judgments.JudgmentLog.for_golden_file(path)
        golden = judgments.merge_judgments(golden, log.read_effective(), str(log.path))
    return golden.model_copy(update={"queries": golden.queries[:limit]})


def list_golden_files(spec: str) -> list[Path]:
    """List the files that `read_golden` reads, and the one with the judgments, which may not exist yet."""
    if spec.startswith("beir:"):
        folder = Path(spec.removeprefix("beir:")).expanduser()
        return [folder / "queries.jsonl", _find_beir_qrels(folder)]
    path = Path(spec).expanduser()
    files = [path, judgments.JudgmentLog.for_golden_file(path).path]
    return [*files, _find_queries_beside(path)] if _is_trec(path) or _is_beir_table(path) else files


def read_beir(folder: AnyPath, limit: int | None = None) -> GoldenSet:
    """Read the queries and judgments of a BEIR folder, which judges pages by the corpus's own `_id`.

    The judgments are in `qrels/test.tsv`, else in the only file in `qrels`, else in `qrels.tsv`. As in BEIR,
    queries without a relevant judgment are left out; `unjudged` counts them. Grades above 2 count as 2 and
    grades below 0 as 0; the description of the golden set says how many of each there were.
    """
    _check_limit(limit)
    path = Path(folder)
    texts = _read_queries(path / "queries.jsonl")
    qrels = _collect_grades(_read_beir_rows(_find_beir_qrels(path)), texts)
    return build_golden(qrels, texts, path.resolve().name, unit="page", limit=limit)


def write_beir(golden: GoldenSet, folder: AnyPath) -> None:
    """Write `queries.jsonl` and `qrels/test.tsv` for a golden set that judges pages; not the corpus."""
    if golden.unit != "page":
        raise InvalidInput("golden", "judges passages, and a BEIR folder judges pages; export qrels instead")
    lines = ["\t".join(_BEIR_COLUMNS)]
    for query in golden.queries:
        grades: dict[str, int] = {}
        for label in query.labels:
            if not label.page:
                raise InvalidInput("golden", f"query {query.id}: the label on {label.location} names no page")
            grades[label.page] = max(label.grade, grades.get(label.page, 0))
        lines += [
            f"{_check_no_tab(query.id)}\t{_check_no_tab(page)}\t{grade}" for page, grade in grades.items()
        ]
    queries = [json.dumps({"_id": query.id, "text": query.text}) for query in golden.queries]
    qrels = Path(folder) / "qrels"
    try:
        qrels.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("golden", f"{qrels} can't be created: {error.strerror or error}") from error
    write_atomically(Path(folder) / "queries.jsonl", "".join(f"{line}\n" for line in queries))
    write_atomically(qrels / "test.tsv", "".join(f"{line}\n" for line in lines))


def build_golden(
    qrels: Qrels, texts: Mapping[str, str], name: str, *, unit: Unit = "passage", limit: int | None = None
) -> GoldenSet:
    """Build a golden set from judgments and the texts of the queries, in the order of the texts.

    Grades are clipped to 0 to 2. Queries without a relevant judgment are left out where pages are judged, as
    in BEIR, whose queries belong to several sets of judgments; `unjudged` counts them.

    Args:
        qrels: The judgments: of passages by chunk id, of pages by the page's path.
        texts: The text of each query by its id.
        name: The name of the golden set.
        unit: Whether the judgments are of passages or of pages.
        limit: How many queries to include, the first ones; all unless given.
    """
    if missing := [query for query in qrels if query not in texts]:
        raise InvalidInput("golden", f"{name}: the query {missing[0]} has judgments, but no text")
    answered = [query for query in texts if any(grade > 0 for grade in qrels.get(query, {}).values())]
    if not answered:
        raise InvalidInput("golden", f"{name} has no query with a relevant judgment")
    id_field = "page" if unit == "page" else "chunk"
    included = (answered if unit == "page" else list(texts))[:limit]
    queries = []
    for query in included:
        labels = [
            {id_field: document, "grade": min(max(grade, 0), MAX_GRADE)}
            for document, grade in qrels.get(query, {}).items()
        ]
        fields = {"id": query, "text": texts[query], "labels": labels}
        queries.append(build_model(GoldenQuery, f"query {query}", fields))
    grades = [grade for query in included for grade in qrels.get(query, {}).values()]
    unjudged = len(texts) - len(answered) if unit == "page" else 0
    facts = [
        (sum(grade > MAX_GRADE for grade in grades), f"grades above {MAX_GRADE} counted as {MAX_GRADE}"),
        (sum(grade < 0 for grade in grades), "grades below 0 counted as 0"),
    ]
    description = "; ".join(f"{count} {fact}" for count, fact in facts if count)
    # A BEIR query has one or two relevant documents, so P@5 can't be a criterion.
    criteria = Criteria(precision_at_5=0.0, queries_reaching=0.0, mrr=0.0) if unit == "page" else Criteria()
    golden = GoldenSet(
        name=name, description=description or None, unit=unit, criteria=criteria, queries=tuple(queries)
    )
    record_unjudged(golden, unjudged)
    return golden


def build_qrels(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> Qrels:
    """Build judgments from resolved labels: by chunk id or, for pages, by the page's id in its source."""
    qrels: Qrels = {}
    for query in golden.queries:
        resolved_query = resolved[query.id]
        grades = dict(resolved_query.judgments)
        if golden.unit == "page":
            grades = {resolved_query.external_ids[page]: grade for page, grade in grades.items()}
        if len(grades) < len(resolved_query.judgments):
            raise InvalidInput("golden", f"query {query.id}: two of its pages have the same name")
        if grades:
            qrels[query.id] = grades
    return qrels


def read_qrels(path: AnyPath) -> Qrels:
    """Read judgments in TREC format: `query 0 document grade`."""
    return _collect_grades(_read_trec_rows(Path(path)))


def write_qrels(qrels: Mapping[str, Mapping[str, int]], path: AnyPath) -> None:
    """Write judgments in TREC format."""
    lines = (
        f"{_check_no_space('qrels', query)} 0 {_check_no_space('qrels', document)} {grade}\n"
        for query, grades in qrels.items()
        for document, grade in grades.items()
    )
    write_atomically(path, "".join(lines))


def read_run(path: AnyPath) -> Run:
    """Read a run in TREC format, `query Q0 document rank score tag`, each query ordered by rank."""
    ranked: dict[str, dict[int, tuple[str, float]]] = defaultdict(dict)
    seen = set()
    for where, line in _read_lines(Path(path), "run"):
        query, _, document, rank, score, _ = _split_columns("run", where, line.split(), _RUN_COLUMNS)
        rank_number = _parse_whole_number("run", where, "rank", rank)
        if rank_number in ranked[query] or (query, document) in seen:
            raise InvalidInput("run", f"{where}: query {query} has rank {rank} or {document} twice")
        seen.add((query, document))
        ranked[query][rank_number] = (document, _parse_score(where, score))
    run = {query: [result for _, result in sorted(ranks.items())] for query, ranks in ranked.items()}
    for query, results in run.items():
        _check_scores_descend(f"{path}: query {query}", results)
    return run


def write_run(
    results: Iterable[tuple[str, Sequence[tuple[str, float]]]], path: AnyPath, tag: str = "pertinent"
) -> None:
    """Write a run in TREC format.

    Args:
        results: Each query with its ids and scores, best first. An id that is listed twice keeps its first
            rank. Evaluation tools break ties of the score by id, whatever the rank.
        path: The file.
        tag: The name of the run.
    """
    lines = []
    for query, ranking in results:
        _check_scores_descend(f"query {query}", ranking)
        first_scores = dict(reversed(ranking))
        for rank, document in enumerate(dict.fromkeys(document for document, _ in ranking), start=1):
            names = [_check_no_space("run", name) for name in (query, document, tag)]
            lines.append(f"{names[0]} Q0 {names[1]} {rank} {float(first_scores[document])!r} {names[2]}\n")
    write_atomically(path, "".join(lines))


class _GradeRow(NamedTuple):
    where: str
    query: str
    document: str
    grade: str


def _is_trec(path: Path) -> bool:
    return path.suffix.lower() in (".qrels", ".txt")


def _is_beir_table(path: Path) -> bool:
    return path.suffix.lower() == ".tsv" and read_utf8(path).startswith("query-id")


def _read_trec_rows(path: Path) -> Iterator[_GradeRow]:
    for where, line in _read_lines(path, "qrels"):
        query, _, document, grade = _split_columns("qrels", where, line.split(), _QRELS_COLUMNS)
        yield _GradeRow(where, query, document, grade)


def _read_beir_rows(path: Path) -> Iterator[_GradeRow]:
    for number, (where, line) in enumerate(_read_lines(path, "qrels")):
        cells = _split_columns("qrels", where, line.split("\t"), _BEIR_COLUMNS)
        if number or not cells[2].isidentifier():  # most files begin with a header: a word, not a grade
            yield _GradeRow(where, *cells)


def _split_columns(field: str, where: str, cells: list[str], columns: Sequence[str]) -> list[str]:
    if len(cells) != len(columns) or not all(cells):
        raise InvalidInput(field, f"{where} has {len(cells)} columns, not `{' '.join(columns)}`")
    return cells


def _collect_grades(rows: Iterable[_GradeRow], queries: Container[str] | None = None) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for row in rows:
        if queries is not None and row.query not in queries:
            raise InvalidInput("qrels", f"{row.where}: there is no query {row.query}")
        if row.document in qrels[row.query]:
            raise InvalidInput("qrels", f"{row.where}: query {row.query} has {row.document} twice")
        qrels[row.query][row.document] = _parse_whole_number("qrels", row.where, "grade", row.grade)
    return dict(qrels)


def _find_beir_qrels(folder: Path) -> Path:
    tables = sorted((folder / "qrels").glob("*.tsv"))
    only_table = tables if len(tables) == 1 else []
    for path in (folder / "qrels" / "test.tsv", *only_table, folder / "qrels.tsv"):
        if path.is_file():
            return path
    names = f"only {', '.join(path.name for path in tables)}" if tables else "nothing"
    raise InvalidInput("golden", f"{folder} needs qrels/test.tsv, and has {names} in qrels")


def _find_queries_beside(path: Path) -> Path:
    names = [f"{path.stem}.queries.tsv", f"{path.stem}.queries.jsonl", "queries.tsv", "queries.jsonl"]
    for name in names:
        if path.with_name(name).is_file():
            return path.with_name(name)
    raise InvalidInput("golden", f"{path} has no queries beside it; put them in {' or '.join(names[::3])}")


def _read_queries(path: Path) -> dict[str, str]:
    """Read the texts of queries by id: objects with `_id` and `text`, or lines with id, tab and text."""
    texts: dict[str, str] = {}
    for where, line in _read_lines(path, "golden"):
        is_json = path.suffix == ".jsonl"
        query, text = _parse_json_query(where, line) if is_json else _parse_tab_query(where, line)
        if not 1 <= len(query) <= MAX_ID_LENGTH or query in texts:
            fault = "is there twice" if query in texts else f"must have 1 to {MAX_ID_LENGTH} characters"
            raise InvalidInput("golden", f"{where}: the id {query[:MAX_ID_LENGTH]!r} {fault}")
        texts[query] = text
    return texts


def _parse_tab_query(where: str, line: str) -> tuple[str, str]:
    query, tab, text = line.partition("\t")
    if not tab:
        raise InvalidInput("golden", f"{where} is not an id, a tab and a text")
    return query, text


def _parse_json_query(where: str, line: str) -> tuple[str, str]:
    try:
        record = parse_json(line)
    except ValueError as error:
        raise InvalidInput("golden", f"{where} is not JSON: {error}") from error
    query, text = (record.get("_id"), record.get("text")) if isinstance(record, dict) else (None, None)
    if isinstance(query, bool) or not isinstance(query, str | int) or not isinstance(text, str):
        raise InvalidInput("golden", f"{where} is not an object with _id and text")
    return str(query), text


def _read_lines(path: Path, field: str) -> Iterator[tuple[str, str]]:
    """Read the lines that are not blank, each with its file and number for messages."""
    # Not splitlines: it ends a line at characters that JSON may hold, such as U+2028.
    for number, line in enumerate(read_utf8(path, field).split("\n"), start=1):
        if line.strip():
            yield f"{path}: line {number}", line.removesuffix("\r")


def _parse_whole_number(field: str, where: str, name: str, text: str) -> int:
    if not WHOLE_NUMBER.fullmatch(text):
        raise InvalidInput(field, f"{where}: {name} must be a whole number, not {text!r}")
    return int(text)


def _parse_score(where: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("run", f"{where}: score must be a number, not {text!r}") from None


def _check_scores_descend(where: str, results: Sequence[tuple[str, float]]) -> None:
    """Refuse scores that contradict the ranks: some tools order by score, others by rank."""
    scores = [score for _, score in results]
    if not all(map(math.isfinite, scores)) or any(lower > upper for upper, lower in pairwise(scores)):
        raise InvalidInput("run", f"{where}: the scores must be finite, and must not rise with the rank")


def _check_no_space(field: str, text: str) -> str:
    if text.split() != [text]:
        raise InvalidInput(
            field, f"{text!r} must not contain a space: a TREC file separates columns by spaces"
        )
    return text


def _check_no_tab(text: str) -> str:
    if re.search(r"[\t\r\n]", text):
        raise InvalidInput(
            "golden", f"{text!r} must not contain a tab: a BEIR file separates columns by tabs"
        )
    return text


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InvalidInput("limit", f"must be at least 1, not {limit}")

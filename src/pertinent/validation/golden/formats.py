"""Golden sets and judgments in the formats of others: BEIR, TREC, and tables for a spreadsheet.

All are read strictly: what can't be right is refused, with the file and the line.
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

from ...errors import InvalidInput
from ..criteria import Criteria
from ..labels import judgments
from ..labels.resolve import ResolvedQuery
from . import golden_set as files
from .csv_tables import NUMBER, AnyPath, made, read_table, text_of, whole_number, write_table
from .golden_set import GoldenQuery, GoldenSet, Unit

__all__ = [
    "Qrels",
    "Run",
    "golden_of",
    "qrels_of",
    "read",
    "read_beir",
    "read_qrels",
    "read_run",
    "read_table",
    "write_beir",
    "write_qrels",
    "write_run",
    "write_table",
]

Qrels = dict[str, dict[str, int]]
"""Grades by query and by chunk or document, as the file has them: a TREC grade may be -2 or 4."""
Run = dict[str, list[tuple[str, float]]]
"""Ids with their scores by query, the best first."""

HIGHEST = 2
ID_MAX = 100
_QRELS = ("query", "0", "document", "grade")
_BEIR = ("query-id", "corpus-id", "score")
_RUN = ("query", "Q0", "document", "rank", "score", "tag")


def read(spec: str, limit: int | None = None, *, judged: bool = True) -> GoldenSet:
    """The golden set that `spec` names: `beir:DIR`, or a file of a kind that its ending tells.

    `.yaml`, `.yml` and `.json` are Pertinent's own; `.csv` and `.tsv` are tables, one row a label;
    `.qrels`, `.txt`, and a `.tsv` that begins with `query-id`, are judgments of passages by chunk id,
    whose queries stand beside it in `STEM.queries.tsv`, `queries.tsv` or `queries.jsonl`. The labels that
    `pertinent label` keeps beside a file are in it too, unless `judged` is false. With a limit there are
    only so many queries, the first.
    """
    _check_limit(limit)
    if spec.startswith("beir:"):
        return read_beir(Path(spec.removeprefix("beir:")).expanduser(), limit)
    path = Path(spec).expanduser()
    ending = path.suffix.lower()
    if ending in (".yaml", ".yml", ".json"):
        found = files.load(path)
    elif ending in (".qrels", ".txt") or (
        ending == ".tsv" and text_of(path, "golden").startswith("query-id")
    ):
        texts = _texts(_queries_beside(path))
        rows = _beir_rows(path) if ending == ".tsv" else _trec_rows(path)
        found = golden_of(_collected(rows, texts), texts, path.stem)
    elif ending in (".csv", ".tsv"):
        found = read_table(path)
    else:
        raise InvalidInput(
            "golden", f"{spec} is of no known kind; give beir:DIR, .yaml, .json, .csv or .qrels"
        )
    if judged:
        log = judgments.Log.beside(path)
        found = judgments.merged(found, log.standing(), str(log.path))
    return found.model_copy(update={"queries": found.queries[:limit]})


def read_beir(folder: AnyPath, limit: int | None = None) -> GoldenSet:
    """The queries and judgments of a BEIR folder, which judge pages by the corpus's own `_id`.

    The judgments are `qrels/test.tsv`, else the only file in `qrels`, else `qrels.tsv`. A query
    without a relevant judgment is left out, as BEIR does. A grade above 2 counts as 2 and one below 0
    as 0, for a golden set knows no others. The description tells how many of each there were.
    """
    _check_limit(limit)
    place = Path(folder)
    texts = _texts(place / "queries.jsonl")
    qrels = _collected(_beir_rows(_judgments_in(place)), texts)
    return golden_of(qrels, texts, place.resolve().name, unit="page", limit=limit)


def write_beir(golden: GoldenSet, folder: AnyPath) -> None:
    """`queries.jsonl` and `qrels/test.tsv`, for a golden set that judges pages; the corpus is not in it."""
    if golden.unit != "page":
        raise InvalidInput("golden", "judges passages, and a BEIR folder judges pages; export qrels instead")
    lines = ["query-id\tcorpus-id\tscore"]
    for query in golden.queries:
        grades: dict[str, int] = {}
        for label in query.labels:
            if not label.page:
                raise InvalidInput("golden", f"query {query.id}: the label on {label.place} names no page")
            grades[label.page] = max(label.grade, grades.get(label.page, 0))
        lines += [f"{_tabless(query.id)}\t{_tabless(page)}\t{grade}" for page, grade in grades.items()]
    queries = [json.dumps({"_id": query.id, "text": query.text}) for query in golden.queries]
    qrels = Path(folder) / "qrels"
    try:
        qrels.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("golden", f"{qrels} can't be made: {error.strerror or error}") from error
    files.write_whole(Path(folder) / "queries.jsonl", "".join(f"{line}\n" for line in queries))
    files.write_whole(qrels / "test.tsv", "".join(f"{line}\n" for line in lines))


def golden_of(
    qrels: Qrels, texts: Mapping[str, str], name: str, *, unit: Unit = "passage", limit: int | None = None
) -> GoldenSet:
    """A golden set from judgments and the texts of the queries, in the order of the texts.

    Judgments of passages go by chunk id, those of pages by the page's path. Grades beyond 0 to 2 are
    cut to that range; queries without a relevant judgment are left out.
    """
    nameless = [query for query in qrels if query not in texts]
    if nameless:
        raise InvalidInput("golden", f"{name}: the query {nameless[0]} has judgments, but no text")
    asked = [query for query in texts if any(grade > 0 for grade in qrels.get(query, {}).values())]
    if not asked:
        raise InvalidInput("golden", f"{name} has no query with a relevant judgment")
    place = "page" if unit == "page" else "chunk"
    queries = []
    for query in asked[:limit]:
        cut = {one: min(max(grade, 0), HIGHEST) for one, grade in qrels[query].items()}
        labels = [{place: one, "grade": grade} for one, grade in cut.items()]
        queries.append(
            made(GoldenQuery, f"query {query}", {"id": query, "text": texts[query], "labels": labels})
        )
    grades = [grade for query in asked[:limit] for grade in qrels[query].values()]
    facts = [
        (len(texts) - len(asked), "queries without a relevant judgment left out"),
        (sum(grade > HIGHEST for grade in grades), f"grades above {HIGHEST} counted as {HIGHEST}"),
        (sum(grade < 0 for grade in grades), "grades below 0 counted as 0"),
    ]
    said = "; ".join(f"{count} {fact}" for count, fact in facts if count)
    # With a document or two to be found for a query, no P@5 can be asked for.
    criteria = Criteria(precision_at_5=0.0, queries_reaching=0.0, mrr=0.0) if unit == "page" else Criteria()
    return GoldenSet(
        name=name, description=said or None, unit=unit, criteria=criteria, queries=tuple(queries)
    )


def qrels_of(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> Qrels:
    """The judgments as they stand today: by chunk id or, for pages, by what the source calls the page."""
    qrels: Qrels = {}
    for query in golden.queries:
        found = resolved[query.id]
        if golden.unit == "passage":
            grades = dict(found.judgments)
        else:
            grades = {found.external_ids[one]: grade for one, grade in found.judgments.items()}
        if len(grades) < len(found.judgments):
            raise InvalidInput("golden", f"query {query.id}: two of its pages have the same name")
        if grades:
            qrels[query.id] = grades
    return qrels


def read_qrels(path: AnyPath) -> Qrels:
    """Judgments in TREC's format: `query 0 document grade`."""
    return _collected(_trec_rows(Path(path)))


def write_qrels(qrels: Mapping[str, Mapping[str, int]], path: AnyPath) -> None:
    """Judgments in TREC's format."""
    lines = (
        f"{_token('qrels', query)} 0 {_token('qrels', document)} {grade}\n"
        for query, grades in qrels.items()
        for document, grade in grades.items()
    )
    files.write_whole(Path(path), "".join(lines))


def read_run(path: AnyPath) -> Run:
    """A run in TREC's format, `query Q0 document rank score tag`, each query in the order of its ranks."""
    ranked: dict[str, dict[int, tuple[str, float]]] = defaultdict(dict)
    seen = set()
    for where, line in _lines(Path(path), "run"):
        parts = line.split()
        if len(parts) != len(_RUN):
            raise InvalidInput("run", f"{where} has {len(parts)} columns, not `{' '.join(_RUN)}`")
        query, _, document, rank, score, _ = parts
        place = whole_number("run", where, "rank", rank)
        if place in ranked[query] or (query, document) in seen:
            raise InvalidInput("run", f"{where}: query {query} has rank {rank} or {document} twice")
        seen.add((query, document))
        ranked[query][place] = (document, _score(where, score))
    run = {query: [found for _, found in sorted(ranks.items())] for query, ranks in ranked.items()}
    for query, results in run.items():
        _check_descends(f"{path}: query {query}", results)
    return run


def write_run(
    results: Iterable[tuple[str, Sequence[tuple[str, float]]]], path: AnyPath, tag: str = "pertinent"
) -> None:
    """Each query's ids with their scores, the best first, as a run in TREC's format.

    An id that is listed twice keeps its first place. Tools order ties by the id, whatever the rank.
    """
    lines = []
    for query, found in results:
        _check_descends(f"query {query}", found)
        first = dict(reversed(found))
        for rank, one in enumerate(dict.fromkeys(one for one, _ in found), start=1):
            names = [_token("run", name) for name in (query, one, tag)]
            lines.append("{} Q0 {} {} {!r} {}\n".format(*names[:2], rank, float(first[one]), names[2]))
    files.write_whole(Path(path), "".join(lines))


class _Judgment(NamedTuple):
    where: str
    query: str
    document: str
    grade: str


def _trec_rows(path: Path) -> Iterator[_Judgment]:
    for where, line in _lines(path, "qrels"):
        parts = line.split()
        if len(parts) != len(_QRELS):
            raise InvalidInput("qrels", f"{where} has {len(parts)} columns, not `{' '.join(_QRELS)}`")
        yield _Judgment(where, parts[0], parts[2], parts[3])


def _beir_rows(path: Path) -> Iterator[_Judgment]:
    for number, (where, line) in enumerate(_lines(path, "qrels")):
        parts = line.split("\t")
        if len(parts) != len(_BEIR) or not all(parts):
            raise InvalidInput("qrels", f"{where} has {len(parts)} columns, not `{' '.join(_BEIR)}`")
        if number or NUMBER.fullmatch(parts[2]):  # most files begin with a header
            yield _Judgment(where, *parts)


def _collected(rows: Iterable[_Judgment], queries: Container[str] | None = None) -> Qrels:
    qrels: Qrels = defaultdict(dict)
    for row in rows:
        if queries is not None and row.query not in queries:
            raise InvalidInput("qrels", f"{row.where}: there is no query {row.query}")
        if row.document in qrels[row.query]:
            raise InvalidInput("qrels", f"{row.where}: query {row.query} has {row.document} twice")
        qrels[row.query][row.document] = whole_number("qrels", row.where, "grade", row.grade)
    return dict(qrels)


def _judgments_in(folder: Path) -> Path:
    found = sorted((folder / "qrels").glob("*.tsv"))
    choice = [folder / "qrels" / "test.tsv", *(found if len(found) == 1 else []), folder / "qrels.tsv"]
    for path in choice:
        if path.is_file():
            return path
    names = f"only {', '.join(path.name for path in found)}" if found else "nothing"
    raise InvalidInput("golden", f"{folder} needs qrels/test.tsv, and has {names} in qrels")


def _queries_beside(path: Path) -> Path:
    names = [f"{path.stem}.queries.tsv", f"{path.stem}.queries.jsonl", "queries.tsv", "queries.jsonl"]
    for name in names:
        if path.with_name(name).is_file():
            return path.with_name(name)
    raise InvalidInput("golden", f"{path} has no queries beside it; put them in {' or '.join(names[::3])}")


def _texts(path: Path) -> dict[str, str]:
    """Queries by id: objects with `_id` and `text`, or lines with an id, a tab and the text."""
    texts: dict[str, str] = {}
    for where, line in _lines(path, "golden"):
        query, text = _json_query(where, line) if path.suffix == ".jsonl" else _tab_query(where, line)
        if not 1 <= len(query) <= ID_MAX or query in texts:
            fault = "stands twice" if query in texts else f"must have 1 to {ID_MAX} characters"
            raise InvalidInput("golden", f"{where}: the id {query[:ID_MAX]!r} {fault}")
        texts[query] = text
    return texts


def _tab_query(where: str, line: str) -> tuple[str, str]:
    query, tab, text = line.partition("\t")
    if not tab:
        raise InvalidInput("golden", f"{where} is not an id, a tab and a text")
    return query, text


def _json_query(where: str, line: str) -> tuple[str, str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("golden", f"{where} is not JSON: {error}") from error
    query, text = (record.get("_id"), record.get("text")) if isinstance(record, dict) else (None, None)
    if isinstance(query, bool) or not isinstance(query, str | int) or not isinstance(text, str):
        raise InvalidInput("golden", f"{where} is not an object with _id and text")
    return str(query), text


def _lines(path: Path, field: str) -> Iterator[tuple[str, str]]:
    # Not splitlines: it ends a line at characters that JSON may hold, such as U+2028.
    for number, line in enumerate(text_of(path, field).split("\n"), start=1):
        if line.strip():
            yield f"{path}: line {number}", line.removesuffix("\r")


def _score(where: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("run", f"{where}: score must be a number, not {text!r}") from None


def _check_descends(where: str, results: Sequence[tuple[str, float]]) -> None:
    """Refuse scores that contradict the order: tools differ in which of the two they go by."""
    scores = [score for _, score in results]
    if not all(map(math.isfinite, scores)) or any(after > before for before, after in pairwise(scores)):
        raise InvalidInput("run", f"{where}: the scores must be numbers that fall with the rank")


def _token(field: str, text: str) -> str:
    if text.split() != [text]:
        raise InvalidInput(field, f"{text!r} can't stand in a TREC file, which parts its columns by spaces")
    return text


def _tabless(text: str) -> str:
    if re.search(r"[\t\r\n]", text):
        raise InvalidInput("golden", f"{text!r} can't stand in a BEIR file, which parts its columns by tabs")
    return text


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise InvalidInput("limit", f"must be at least 1, not {limit}")

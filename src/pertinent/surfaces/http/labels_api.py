"""Labelling over HTTP: the next passage, a judgment of it, taking it back, and the judges' agreement."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ...errors import NotFound
from ...limits import check_count
from ...validation.labels.agreement import PairAgreement, count_by_judge, measure_agreement
from ...validation.labels.judgments import NAME_MAX, NOTE_MAX, Judgment
from ...validation.labels.labeling_session import LabelingSession, LabelingState, PooledPassage
from .answering import JSON, service
from .fields import Body, whole
from .label_desk import OFF, at_desk
from .problems import Problem, responses


async def _switched_on(request: Request) -> None:
    """Where labelling is off there is nothing here, whatever the body holds."""
    if request.app.state.label_desk is None:
        raise Problem(404, "not_found", OFF)


router = APIRouter(prefix="/api/v1/labels", tags=["labels"], dependencies=[Depends(_switched_on)])

HIGHEST = 2
TOLD = 100
"""How many disagreements of two judges are told, the widest first."""

_JUDGE = {"judge": "ann"}
_QUERY = {"id": "joint-limits", "text": "What limits a joint?"}
_PASSAGE = {
    "chunk_id": "joints-0a1b2c3d-4e5f60718293",
    "title": "Joints",
    "section": "Limits",
    "content": "A revolute joint has limits for its angle.",
}
_PROGRESS = {"judged": 12, "skipped": 1, "total": 340}
_NEXT = {"query": _QUERY, "passage": _PASSAGE, "progress": _PROGRESS, "undoable": True}
_DISAGREEMENT = {
    "query": _QUERY,
    "passage_id": _PASSAGE["chunk_id"],
    "breadcrumb": "Joints › Limits",
    "first": 2,
    "second": 0,
}
_PAIR = {
    "first": "ann",
    "second": "ben",
    "kappa": 0.72,
    "n": 40,
    "same": 39,
    "disagreements": [_DISAGREEMENT],
}

Judge = Annotated[
    str | None,
    Field(max_length=NAME_MAX, description="Who judges; without a name it is nobody in particular"),
]


def _check_grade(value: object) -> int:
    return check_count("grade", value, HIGHEST, least=0)


def _example(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": example})


class LabelQuery(BaseModel):
    """A query of the golden set."""

    model_config = _example(_QUERY)

    id: str
    text: str


class LabelPassage(BaseModel):
    """A passage to be judged; neither its rank nor its score is told."""

    model_config = _example(_PASSAGE)

    chunk_id: str
    title: str
    section: str
    content: str


class LabelProgress(BaseModel):
    """How far a judge is."""

    model_config = _example(_PROGRESS)

    judged: int = Field(ge=0)
    skipped: int = Field(ge=0, description="Those that come again at the end")
    total: int = Field(ge=0)


class NextPassage(BaseModel):
    """What is to be judged now; query and passage are null where everything is judged."""

    model_config = _example(_NEXT)

    query: LabelQuery | None
    passage: LabelPassage | None
    progress: LabelProgress
    undoable: bool = Field(description="Whether there is anything to take back")


class UndonePassage(NextPassage):
    """The passage whose judgment was taken back, and what had been said of it."""

    model_config = _example({**_NEXT, "grade": 1, "note": "for revolute joints alone"})

    grade: int | None = Field(ge=0, le=HIGHEST, description="Null where it had been skipped")
    note: str | None


class JudgmentRequest(Body):
    """How well a passage answers a query."""

    model_config = _example(
        {**_JUDGE, "query_id": _QUERY["id"], "chunk_id": _PASSAGE["chunk_id"], "grade": 2, "note": "in full"}
    )

    query_id: Annotated[str, Field(min_length=1, max_length=100)]
    chunk_id: Annotated[str, Field(min_length=1, max_length=200)]
    grade: Annotated[
        Annotated[int, Field(ge=0, le=HIGHEST), whole(_check_grade)] | None,
        Field(description="0 it does not help, 1 it helps in part, 2 it answers; null skips the passage"),
    ]
    judge: Judge = None
    note: Annotated[str | None, Field(max_length=NOTE_MAX)] = None


class UndoRequest(Body):
    """Whose last judgment is to be taken back."""

    model_config = _example(_JUDGE)

    judge: Judge = None


class JudgeCount(BaseModel):
    """A judge, and how many passages of today they have judged."""

    model_config = _example({"judge": "ann", "passages": 40})

    judge: str | None = Field(description="Null is the golden file, and whoever gave no name")
    passages: int = Field(ge=0)


class JudgesApart(BaseModel):
    """A passage that two judges gave different grades."""

    model_config = _example(_DISAGREEMENT)

    query: LabelQuery
    passage_id: str
    breadcrumb: str
    first: int
    second: int


class JudgePair(BaseModel):
    """Two judges, and how far they agree."""

    model_config = _example(_PAIR)

    first: str | None
    second: str | None
    kappa: float | None = Field(
        description="Quadratically weighted; null where both gave one grade throughout"
    )
    n: int = Field(ge=1, description="How many passages both have judged")
    same: int = Field(ge=0, description="To how many of them they gave the same grade")
    disagreements: list[JudgesApart] = Field(description=f"The widest first, at most {TOLD}")


class JudgesAgreement(BaseModel):
    """Everybody who has judged, and every two who have judged the same passages."""

    model_config = _example({"judges": [{"judge": "ann", "passages": 40}], "pairs": [_PAIR]})

    judges: list[JudgeCount]
    pairs: list[JudgePair]


@router.get(
    "/next", response_model=NextPassage, responses=responses(400, 404), summary="The next passage to judge"
)
async def next_passage(
    request: Request,
    judge: Annotated[
        str | None,
        Query(max_length=NAME_MAX, description="Who judges; without a name, what nobody has judged"),
    ] = None,
) -> Response:
    """A passage that the judge has not judged, with the query that it may answer."""
    return JSON(await at_desk(request, lambda desk: _next(desk.state(judge))))


@router.post(
    "",
    response_model=NextPassage,
    responses=responses(400, 403, 404, 413),
    summary="Judge a passage",
)
async def judge_passage(request: Request, body: JudgmentRequest) -> Response:
    """Save the judgment, and give the next passage. When it is answered it is on the disk."""
    _refuse_other_sites(request)

    def judged(desk: LabelingSession) -> dict[str, Any]:
        desk.judge(desk.find(body.query_id, body.chunk_id), body.grade, body.judge, body.note)
        return _next(desk.state(body.judge))

    return JSON(await at_desk(request, judged))


@router.post(
    "/undo",
    response_model=UndonePassage,
    responses=responses(400, 403, 404, 413),
    summary="Take the last judgment back",
)
async def undo(request: Request, body: UndoRequest) -> Response:
    """Take back the last that the judge has said, and give that passage again."""
    _refuse_other_sites(request)
    return JSON(await at_desk(request, lambda desk: _undone(desk, body.judge)))


@router.get(
    "/agreement",
    response_model=JudgesAgreement,
    responses=responses(404),
    summary="How far do the judges agree?",
)
async def judges_agreement(request: Request) -> Response:
    """Weighted kappa of every two judges, and the passages on which they differ."""
    return JSON(await at_desk(request, _agreement))


def _refuse_other_sites(request: Request) -> None:
    """A page of another site must not judge in the name of whoever looks at it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        # Any other kind may be sent by a page without asking first.
        raise Problem(400, "validation_error", "body: must be sent with Content-Type: application/json")
    allowed = service(request).pertinent.workspace.settings.cors_origins
    foreign = request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
    if foreign and request.headers.get("origin") not in allowed:
        raise Problem(403, "forbidden", "a judgment must come from a page of this service")


def _next(look: LabelingState) -> dict[str, Any]:
    progress = look.progress
    return {
        **_shown(look.candidate),
        "progress": {"judged": progress.judged, "skipped": progress.skipped, "total": progress.total},
        "undoable": look.undoable,
    }


def _shown(candidate: PooledPassage | None) -> dict[str, Any]:
    if candidate is None:
        return {"query": None, "passage": None}
    query, chunk = candidate.query, candidate.chunk
    return {
        "query": {"id": query.id, "text": query.text},
        "passage": {
            "chunk_id": chunk.chunk_id,
            "title": chunk.title,
            "section": chunk.section,
            "content": chunk.text,
        },
    }


def _undone(desk: LabelingSession, judge: str | None) -> dict[str, Any]:
    taken = desk.undo(judge)
    if taken is None:
        raise Problem(404, "not_found", "there is no judgment to take back")
    label = taken.label
    said = {"grade": label.grade if label else None, "note": label.note if label else None}
    return {**_next(desk.state(judge)), **_again(desk, taken), **said}


def _again(desk: LabelingSession, taken: Judgment) -> dict[str, Any]:
    """The passage itself; nothing in place of the next one where it is no longer shown."""
    try:
        return _shown(desk.find(taken.query, taken.chunk))
    except NotFound:
        return {}


def _agreement(desk: LabelingSession) -> dict[str, Any]:
    views = desk.grades()
    return {
        "judges": [{"judge": judge, "passages": count} for judge, count in count_by_judge(views)],
        "pairs": [_pair(desk, pair) for pair in measure_agreement(views)],
    }


def _pair(desk: LabelingSession, pair: PairAgreement) -> dict[str, Any]:
    texts = {query.id: query.text for query in desk.golden.queries}
    return {
        "first": pair.first,
        "second": pair.second,
        "kappa": pair.kappa,
        "n": pair.n,
        "same": pair.n - len(pair.disagreements),
        "disagreements": [
            {
                "query": {"id": one.passage.query, "text": texts[one.passage.query]},
                "passage_id": one.passage.name,
                "breadcrumb": desk.breadcrumbs.get(one.passage.name, one.passage.name),
                "first": one.first,
                "second": one.second,
            }
            for one in pair.disagreements[:TOLD]
        ],
    }

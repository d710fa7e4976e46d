"""Labelling over HTTP: the next passage, its judgment, undo, and the agreement of the judges."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.datastructures import Headers

from ...errors import NotFound
from ...limits import check_count
from ...validation.labels.agreement import PairAgreement, count_by_judge, measure_agreement
from ...validation.labels.judgments import NAME_MAX, NOTE_MAX, Judgment
from ...validation.labels.labeling_session import LabelingSession, LabelingState, PooledPassage
from .errors import ApiError, openapi_errors
from .labeling_session_builder import require_labeling, run_in_session
from .schemas import RequestBody, check_integer
from .service import get_service

# Without labelling every route is a 404, whatever the body holds.
router = APIRouter(prefix="/api/v1/labels", tags=["labels"], dependencies=[Depends(require_labeling)])

HIGHEST_GRADE = 2
MAX_DISAGREEMENTS = 100
"""How many disagreements of two judges are returned, the widest first."""

QueryId = Annotated[str, Field(examples=["joint-limits"])]
PassageId = Annotated[str, Field(examples=["joints-0a1b2c3d-4e5f60718293"])]
Grade = Annotated[int, Field(ge=0, le=HIGHEST_GRADE, examples=[2])]
Note = Annotated[str | None, Field(examples=["only for revolute joints"])]
JudgeName = Annotated[
    str | None, Field(description="Null: the golden file, or judgments without a name", examples=["ann"])
]
JudgeField = Annotated[
    str | None,
    Field(max_length=NAME_MAX, description="The name of the judge; may be omitted", examples=["ann"]),
]


def _check_grade(value: object) -> int:
    return check_count("grade", value, HIGHEST_GRADE, minimum=0)


class LabelQuery(BaseModel):
    """A query of the golden set."""

    id: QueryId
    text: str = Field(examples=["What limits a joint?"])


class LabelPassage(BaseModel):
    """A passage to judge, without its rank and score, which could bias the judge."""

    chunk_id: PassageId
    title: str = Field(examples=["Joints"])
    section: str = Field(examples=["Limits"])
    content: str = Field(examples=["A revolute joint has limits for its angle."])


class LabelProgress(BaseModel):
    """The progress of a judge."""

    judged: int = Field(ge=0, examples=[12])
    skipped: int = Field(ge=0, description="Skipped passages, which come again at the end", examples=[1])
    total: int = Field(ge=0, examples=[340])


class NextPassage(BaseModel):
    """The passage to judge next; query and passage are null once everything is judged."""

    query: LabelQuery | None
    passage: LabelPassage | None
    progress: LabelProgress
    undoable: bool = Field(description="Whether the judge has a judgment to undo")


class UndonePassage(NextPassage):
    """The passage whose judgment was undone, with its former grade and note."""

    grade: Grade | None = Field(description="Null if the passage had been skipped")
    note: Note


class JudgmentRequest(RequestBody):
    """How well a passage answers a query."""

    query_id: Annotated[QueryId, Field(min_length=1, max_length=100)]
    chunk_id: Annotated[PassageId, Field(min_length=1, max_length=200)]
    grade: Annotated[
        Annotated[Grade, check_integer(_check_grade)] | None,
        Field(description="0: does not help, 1: helps in part, 2: answers; null skips the passage"),
    ]
    judge: JudgeField = None
    note: Annotated[Note, Field(max_length=NOTE_MAX)] = None


class UndoRequest(RequestBody):
    """The judge whose last judgment is to be undone."""

    judge: JudgeField = None


class JudgeCount(BaseModel):
    """A judge, and how many of the current passages they have judged."""

    judge: JudgeName
    passages: int = Field(ge=0, examples=[40])


class JudgeDisagreement(BaseModel):
    """A passage to which two judges gave different grades."""

    query: LabelQuery
    passage_id: PassageId
    breadcrumb: str = Field(examples=["Joints › Limits"])
    first: int = Field(examples=[2])
    second: int = Field(examples=[0])


class JudgePair(BaseModel):
    """Two judges, and how far they agree."""

    first: JudgeName
    second: JudgeName
    kappa: float | None = Field(
        description="Quadratically weighted kappa; null if both gave the same grade every time",
        examples=[0.72],
    )
    n: int = Field(ge=1, description="How many passages both have judged", examples=[40])
    same: int = Field(ge=0, description="How many of them got the same grade from both", examples=[39])
    disagreements: list[JudgeDisagreement] = Field(
        description=f"The widest first, at most {MAX_DISAGREEMENTS}"
    )


class JudgesAgreement(BaseModel):
    """All judges, and every pair that has judged the same passages."""

    judges: list[JudgeCount]
    pairs: list[JudgePair]


@router.get(
    "/next",
    response_model=NextPassage,
    responses=openapi_errors(400, 404),
    summary="Get the next passage to judge",
)
async def next_passage(
    request: Request,
    judge: Annotated[
        str | None,
        Query(max_length=NAME_MAX, description="The judge; without one, passages that nobody has judged"),
    ] = None,
) -> Response:
    """Return a passage that the judge has not judged, with its query."""
    return JSONResponse(await run_in_session(request, lambda session: _render_state(session.state(judge))))


@router.post(
    "",
    response_model=NextPassage,
    responses=openapi_errors(400, 403, 404, 413),
    summary="Judge a passage",
)
async def judge_passage(request: Request, body: JudgmentRequest) -> Response:
    """Save the judgment, and return the next passage. The response comes after it is on disk."""
    _refuse_other_sites(request)

    def judge(session: LabelingSession) -> dict[str, Any]:
        session.judge(session.find(body.query_id, body.chunk_id), body.grade, body.judge, body.note)
        return _render_state(session.state(body.judge))

    return JSONResponse(await run_in_session(request, judge))


@router.post(
    "/undo",
    response_model=UndonePassage,
    responses=openapi_errors(400, 403, 404, 413),
    summary="Undo the last judgment",
)
async def undo_judgment(request: Request, body: UndoRequest) -> Response:
    """Undo the judge's last judgment, and return its passage again."""
    _refuse_other_sites(request)
    return JSONResponse(await run_in_session(request, lambda session: _undo(session, body.judge)))


@router.get(
    "/agreement",
    response_model=JudgesAgreement,
    responses=openapi_errors(404),
    summary="Compare the judges",
)
async def judges_agreement(request: Request) -> Response:
    """Return the weighted kappa of every pair of judges, and the passages on which they differ."""
    return JSONResponse(await run_in_session(request, _render_agreement))


def _refuse_other_sites(request: Request) -> None:
    """Protect against cross-site request forgery: a page of another site must not judge for its reader."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        # Browsers send other types across sites without a preflight.
        raise ApiError(400, "validation_error", "body: must be sent with Content-Type: application/json")
    allowed = get_service(request).pertinent.workspace.settings.cors_origins
    if _is_cross_site(request.headers) and request.headers.get("origin") not in allowed:
        raise ApiError(403, "forbidden", "a judgment must come from a page of this service")


def _is_cross_site(headers: Headers) -> bool:
    """Whether a page of another site sends the request; other programs than browsers send neither header."""
    if site := headers.get("sec-fetch-site"):
        return site not in ("none", "same-origin")
    # Browsers leave it out if the service is reached over plain HTTP by another name than localhost.
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def _render_state(state: LabelingState) -> dict[str, Any]:
    progress = state.progress
    return {
        **_render_candidate(state.candidate),
        "progress": {"judged": progress.judged, "skipped": progress.skipped, "total": progress.total},
        "undoable": state.undoable,
    }


def _render_candidate(candidate: PooledPassage | None) -> dict[str, Any]:
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


def _undo(session: LabelingSession, judge: str | None) -> dict[str, Any]:
    judgment = session.undo(judge)
    if judgment is None:
        raise ApiError(404, "not_found", "there is no judgment to undo")
    label = judgment.label
    former = {"grade": label.grade if label else None, "note": label.note if label else None}
    return {**_render_state(session.state(judge)), **_render_passage(session, judgment), **former}


def _render_passage(session: LabelingSession, judgment: Judgment) -> dict[str, Any]:
    """Render the judged passage; if it is gone from the index, nothing, so that the next one is shown."""
    try:
        return _render_candidate(session.find(judgment.query, judgment.chunk))
    except NotFound:
        return {}


def _render_agreement(session: LabelingSession) -> dict[str, Any]:
    views = session.grades()
    return {
        "judges": [{"judge": judge, "passages": count} for judge, count in count_by_judge(views)],
        "pairs": [_render_pair(session, pair) for pair in measure_agreement(views)],
    }


def _render_pair(session: LabelingSession, pair: PairAgreement) -> dict[str, Any]:
    texts = {query.id: query.text for query in session.golden.queries}
    return {
        "first": pair.first,
        "second": pair.second,
        "kappa": pair.kappa,
        "n": pair.n,
        "same": pair.n - len(pair.disagreements),
        "disagreements": [
            {
                "query": {"id": passage.query, "text": texts[passage.query]},
                "passage_id": passage.name,
                "breadcrumb": session.breadcrumbs.get(passage.name, passage.name),
                "first": first,
                "second": second,
            }
            for passage, first, second in pair.disagreements[:MAX_DISAGREEMENTS]
        ],
    }

"""`pertinent label`: passages judged one by one, by a key each."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from ..._internal.messages import format_count
from ...errors import InvalidInput, NotFound
from .failures import INTERRUPTED, say
from .opening import opened
from .terminal import clean, layout, one_line, sign, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...validation.labels.agreement import Judge, PairAgreement
    from ...validation.labels.labeling_session import LabelingProgress, LabelingSession, PooledPassage

GRADES = ("0", "1", "2")
INDENT = 4
NAMELESS = "the golden file"
"""Whose labels those without a judge are."""


def label(
    context: typer.Context,
    golden: Annotated[
        str,
        typer.Argument(
            metavar="GOLDEN", help="A golden set: a YAML, JSON, CSV or qrels file.", show_default=False
        ),
    ],
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who judges: you are shown all that you have not judged; without a name, what nobody has.",
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="ID", help="Judge passages for this query alone.")
    ] = None,
    *,
    agreement: Annotated[
        bool,
        typer.Option(
            "--agreement", help="Tell how far the judges agree, and where they don't; judge nothing."
        ),
    ] = False,
) -> None:
    """Judge passages one at a time, by how well they answer.

    You see a query and a passage that some ranking finds for it, in an order
    that tells nothing of its rank. Press a key:

      0  it does not help         s  skip it: it comes again at the end
      1  it helps in part         u  undo: take the last one back
      2  it answers               n  a note on this passage
                                  q  quit

    Each judgment is saved at once, in GOLDEN.judgments.jsonl beside the golden
    set, which is not touched itself; `pertinent validate` reads both. Where stdin
    is no terminal, a line is a key; `n WORDS` is a note.

    For example:
      pertinent label golden.yaml --judge ann
      pertinent label golden.yaml --judge ben --query qos-default
      pertinent label golden.yaml --agreement
    """
    from ...validation.labels.judgments import check_judge_name
    from ...validation.labels.labeling_session import LabelingSession
    from ..subjects import Local
    from .progress import progress

    name = check_judge_name(judge)
    if judge is not None and name is None:
        raise InvalidInput("judge", "must not be empty")
    # The index is given back before the first passage is shown: judging may take an afternoon.
    with opened(context) as pertinent:
        subject = Local(pertinent.workspace)
        if agreement:
            desk = LabelingSession.open(subject, golden, pooled=False)
        else:
            with progress() as told:
                told.stage("Finding passages to judge", None)
                desk = LabelingSession.open(subject, golden, query=query, advance=told.advance)
    if agreement:
        _print_agreement(desk, name)
        return
    session = _Session(desk, name, _Keys() if sys.stdin.isatty() else _Lines())
    try:
        session.run()
    except KeyboardInterrupt:
        write("\n")
        say("stopped; every judgment is saved, and the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None


class _Input(Protocol):
    def key(self) -> tuple[str, str] | None:
        """A key, and what was given with it; None where there is no more."""

    def words(self) -> str:
        """A line."""


class _Keys:
    """Single keys of a terminal."""

    def key(self) -> tuple[str, str] | None:
        write("> ")
        try:
            pressed = typer.getchar()
        except EOFError:
            pressed = ""
        shown = pressed if pressed.isprintable() else ""
        write(f"{shown}\n")
        # What has more than one letter was pasted, or is an arrow key: no judgment.
        return (pressed, "") if pressed else None

    def words(self) -> str:
        write("note: ")
        return _read_line()


class _Lines:
    """Lines of a file or a pipe: a key each, with a note's words after it."""

    def key(self) -> tuple[str, str] | None:
        line = _read_line()
        while line and not line.strip():
            line = _read_line()
        key, _, rest = line.strip().partition(" ")
        return (key, rest.strip()) if line else None

    def words(self) -> str:
        return _read_line()


def _read_line() -> str:
    try:
        return sys.stdin.readline()
    except UnicodeDecodeError as error:
        raise InvalidInput("stdin", f"is not text: {error}") from error


class _Session:
    """One judge at the desk."""

    def __init__(self, desk: LabelingSession, judge: Judge, keys: _Input) -> None:
        self._desk = desk
        self._judge = judge
        self._keys = keys
        self._note: str | None = None
        self._said = 0

    def run(self) -> None:
        """Show passages until there is no more input, or a q."""
        candidate = self._show_next()
        while (given := self._keys.key()) is not None and given[0] != "q":
            candidate = self._act(candidate, *given)
        self._farewell()

    def _act(self, candidate: PooledPassage | None, key: str, rest: str) -> PooledPassage | None:
        """Do what a key says; the passage that is to be judged then."""
        if key == "u":
            return self._undo(candidate)
        if candidate is None:
            write(f"{_COMPLETE}\n")
        elif key in GRADES or key == "s":
            grade = int(key) if key in GRADES else None
            self._desk.judge(candidate, grade, self._judge, None if grade is None else self._note)
            self._note = None
            self._said += 1
            return self._show_next()
        elif key == "n":
            self._take_note(rest or self._keys.words())
        else:
            write("The keys are 0 1 2 s u n, and q to quit. Nothing was judged.\n")
        return candidate

    def _take_note(self, words: str) -> None:
        from ...validation.labels.judgments import check_note

        try:
            self._note = check_note(words)
        except InvalidInput as error:
            write(f"{one_line(str(error))}\n")
            return
        write("The note goes with your next key.\n" if self._note else "No note.\n")

    def _undo(self, candidate: PooledPassage | None) -> PooledPassage | None:
        taken = self._desk.undo(self._judge)
        if taken is None:
            write("There is nothing to take back.\n")
            return candidate
        self._said = max(0, self._said - 1)
        self._note = taken.label.note if taken.label else None
        what = f"your {taken.label.grade}" if taken.label else "your skip"
        write(f"Taken back: {what}.\n")
        try:
            back = self._desk.find(taken.query, taken.chunk)
        except NotFound:
            write("Its passage is not among those that are shown now.\n")
            return self._show_next()
        self._show(back, self._desk.state(self._judge).progress)
        return back

    def _show_next(self) -> PooledPassage | None:
        look = self._desk.state(self._judge)
        if look.candidate is None:
            write(f"{_COMPLETE if look.progress.total else _NOTHING}\n")
        else:
            self._show(look.candidate, look.progress)
        return look.candidate

    def _show(self, candidate: PooledPassage, progress: LabelingProgress) -> None:
        write(layout(lambda out: _draw(out, candidate, progress, self._note)))

    def _farewell(self) -> None:
        progress = self._desk.state(self._judge).progress
        if self._said:
            times = format_count(self._said, "judgment")
            write(f"{times} saved in {one_line(str(self._desk.log.path))}. ")
        write(f"{_counted(progress)}.\n")


_COMPLETE = "Everything is judged. u takes the last judgment back, q quits."
_NOTHING = "There is nothing to judge: no query that may have an answer finds a passage."


def _counted(progress: LabelingProgress) -> str:
    skipped = f", {progress.skipped} skipped" if progress.skipped else ""
    return f"{progress.judged:,} of {progress.total:,} passages judged{skipped}"


def _draw(out: Console, candidate: PooledPassage, progress: LabelingProgress, note: str | None) -> None:
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    out.print()
    out.print(
        Rule(Text(_counted(progress), style="dim"), characters=sign("─", "-"), align="left", style="dim")
    )
    out.print(Text(one_line(candidate.query.text), style="bold"))
    out.print()
    where = one_line(candidate.chunk.breadcrumb).replace("›", sign("›", ">"))
    out.print(Text(where, style="cyan"))
    out.print(Padding(Text(clean(candidate.chunk.text).strip("\n")), (0, 0, 0, INDENT)))
    out.print()
    if note:
        out.print(Text(f"note: {one_line(note)}", style="dim"))
    keys = ("0 no", "1 in part", "2 answers", "s skip", "u undo", "n note", "q quit")
    out.print(Text(sign("  ·  ", "  |  ").join(keys), style="dim"))


def _print_agreement(desk: LabelingSession, judge: Judge) -> None:
    from ...validation.labels.agreement import count_by_judge, measure_agreement

    views = desk.grades()
    pairs = [pair for pair in measure_agreement(views) if judge is None or judge in (pair.first, pair.second)]
    if not pairs:
        known = ", ".join(f"{_name(one)} ({count:,})" for one, count in count_by_judge(views)) or "nobody"
        raise InvalidInput(
            "agreement", f"needs passages that two judges have judged; so far there are labels by {known}"
        )
    write(layout(lambda out: _draw_pairs(out, desk, pairs)))


def _draw_pairs(out: Console, desk: LabelingSession, pairs: Sequence[PairAgreement]) -> None:
    from rich.table import Table
    from rich.text import Text

    texts = {query.id: query.text for query in desk.golden.queries}
    for pair in pairs:
        first, second = _name(pair.first), _name(pair.second)
        kappa = "not defined: both gave one grade throughout" if pair.kappa is None else f"{pair.kappa:.2f}"
        same = pair.n - len(pair.disagreements)
        out.print(Text(f"{first} and {second}", style="bold"))
        judged = format_count(pair.n, "passage", "passages")
        out.print(f"weighted kappa {kappa} over {judged}; the same grade for {same:,}")
        if pair.disagreements:
            table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
            table.add_column(first, justify="right")
            table.add_column(second, justify="right")
            table.add_column("query and passage", ratio=1, overflow="fold")
            for one in pair.disagreements:
                where = desk.breadcrumbs.get(one.passage.name, one.passage.name)
                told = f"{one_line(texts[one.passage.query])}\n{one_line(where)}"
                table.add_row(str(one.first), str(one.second), Text(told))
            out.print(table)
        out.print()
    out.print("1 is full agreement, 0 what chance would give; a grade that is two off counts four times.")


def _name(judge: Judge) -> str:
    return one_line(judge) if judge else NAMELESS

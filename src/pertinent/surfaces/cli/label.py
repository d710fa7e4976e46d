"""`pertinent label`: judge passages one by one, with a key for each grade."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from ..._internal.messages import format_count
from ...errors import InvalidInput, NotFound
from .error_reporting import INTERRUPTED, print_notice
from .global_options import GoldenArgument, open_pertinent
from .search_output import format_breadcrumb
from .terminal import clean, make_table, one_line, render, symbol, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...validation.labels.agreement import PairAgreement
    from ...validation.labels.labeling_session import LabelingProgress, LabelingSession, PooledPassage
    from ...validation.labels.votes import Judge

GRADES = ("0", "1", "2")
INDENT = 4
UNNAMED_JUDGE = "the golden file"
"""The name shown for labels without a judge."""

ALL_JUDGED = "Everything is judged. Press u to undo the last judgment, q to quit."
NOTHING_TO_JUDGE = "There is nothing to judge: no answerable query finds a passage."


def label(
    context: typer.Context,
    golden: GoldenArgument,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Your name, to see all passages that you have not judged. Default: only passages that "
            "nobody has judged.",
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option(metavar="ID", help="Judge passages of this query only.")
    ] = None,
    *,
    agreement: Annotated[
        bool,
        typer.Option(
            "--agreement", help="Print how well the judges agree and where they differ, without judging."
        ),
    ] = False,
) -> None:
    """Judge, one at a time, how well passages answer a query.

    Shows a query and a passage that a ranking found for it, in an order that does
    not reveal its rank. Press a key:

      0  it does not help         s  skip it: it comes again at the end
      1  it helps in part         u  undo the last judgment
      2  it answers               n  add a note to this passage
                                  q  quit

    Each judgment is saved at once, in GOLDEN.judgments.jsonl beside the golden
    set, which stays unchanged; `pertinent validate` reads both. If stdin is not a
    terminal, each line is a key; `n TEXT` adds a note.

    For example:
      pertinent label golden.yaml --judge ann
      pertinent label golden.yaml --judge ben --query qos-default
      pertinent label golden.yaml --agreement
    """
    from ...validation.labels.judgments import check_judge_name
    from ...validation.labels.labeling_session import LabelingSession
    from ..validation_targets import LocalPipeline
    from .progress import show_progress

    name = check_judge_name(judge)
    if judge is not None and name is None:
        raise InvalidInput("--judge", "must not be empty")
    # The index is closed before the first passage is shown: judging may take hours.
    with open_pertinent(context) as pertinent:
        pipeline = LocalPipeline(pertinent.workspace)
        if agreement:
            session = LabelingSession.open(pipeline, golden, pooled=False)
        else:
            with show_progress() as progress:
                progress.stage("Finding passages to judge", None)
                session = LabelingSession.open(pipeline, golden, query=query, advance=progress.advance)
    if agreement:
        _print_agreement(session, name)
        return
    dialogue = _Dialogue(session, name, _TerminalKeys() if sys.stdin.isatty() else _PipedLines())
    try:
        dialogue.run()
    except KeyboardInterrupt:
        write("\n")
        print_notice("stopped; every judgment is saved, and the same command continues from there")
        raise typer.Exit(INTERRUPTED) from None


class _Input(Protocol):
    def read_key(self) -> tuple[str, str] | None:
        """Read a key and the text after it; None at the end of the input."""

    def read_note(self) -> str:
        """Read a line of text."""


class _TerminalKeys:
    """Single key presses on a terminal."""

    def read_key(self) -> tuple[str, str] | None:
        write("> ")
        try:
            key = typer.getchar()
        except EOFError:
            key = ""
        write(f"{key if key.isprintable() else ''}\n")
        # A key of several characters is pasted text or an arrow key: it matches no command.
        return (key, "") if key else None

    def read_note(self) -> str:
        write("note: ")
        return _read_line()


class _PipedLines:
    """Lines of a file or a pipe: a key each, followed by the text of a note."""

    def read_key(self) -> tuple[str, str] | None:
        line = _read_line()
        while line and not line.strip():
            line = _read_line()
        key, _, text = line.strip().partition(" ")
        return (key, text.strip()) if line else None

    def read_note(self) -> str:
        return _read_line()


def _read_line() -> str:
    try:
        return sys.stdin.readline()
    except UnicodeDecodeError as error:
        raise InvalidInput("stdin", f"is not text: {error}") from error


class _Dialogue:
    """The dialogue with one judge."""

    def __init__(self, session: LabelingSession, judge: Judge, keys: _Input) -> None:
        self._session = session
        self._judge = judge
        self._keys = keys
        self._note: str | None = None
        self._judgments = 0

    def run(self) -> None:
        """Show passages until q is pressed or the input ends."""
        candidate = self._show_next()
        while (pressed := self._keys.read_key()) is not None and pressed[0] != "q":
            candidate = self._handle_key(candidate, *pressed)
        self._print_totals()

    def _handle_key(self, candidate: PooledPassage | None, key: str, text: str) -> PooledPassage | None:
        """Carry out a key, and return the passage to judge next."""
        if key == "u":
            return self._undo(candidate)
        if candidate is None:
            write(f"{ALL_JUDGED}\n")
        elif key in GRADES or key == "s":
            grade = int(key) if key in GRADES else None
            self._session.judge(candidate, grade, self._judge, None if grade is None else self._note)
            self._note = None
            self._judgments += 1
            return self._show_next()
        elif key == "n":
            self._add_note(text or self._keys.read_note())
        else:
            write("Press 0, 1, 2, s, u or n, or q to quit. Nothing was judged.\n")
        return candidate

    def _add_note(self, text: str) -> None:
        from ...validation.labels.judgments import check_note

        try:
            self._note = check_note(text)
        except InvalidInput as error:
            write(f"{one_line(str(error))}\n")
            return
        write("The note will be saved with your next judgment.\n" if self._note else "No note.\n")

    def _undo(self, candidate: PooledPassage | None) -> PooledPassage | None:
        undone = self._session.undo(self._judge)
        if undone is None:
            write("There is nothing to undo.\n")
            return candidate
        self._judgments = max(0, self._judgments - 1)
        self._note = undone.label.note if undone.label else None
        judgment = f"your {undone.label.grade}" if undone.label else "your skip"
        write(f"Undone: {judgment}.\n")
        try:
            previous = self._session.find(undone.query, undone.chunk)
        except NotFound:
            write("Its passage is no longer among those to judge.\n")
            return self._show_next()
        self._show(previous, self._session.state(self._judge).progress)
        return previous

    def _show_next(self) -> PooledPassage | None:
        state = self._session.state(self._judge)
        if state.candidate is None:
            write(f"{ALL_JUDGED if state.progress.total else NOTHING_TO_JUDGE}\n")
        else:
            self._show(state.candidate, state.progress)
        return state.candidate

    def _show(self, candidate: PooledPassage, progress: LabelingProgress) -> None:
        write(render(lambda out: _print_candidate(out, candidate, progress, self._note)))

    def _print_totals(self) -> None:
        progress = self._session.state(self._judge).progress
        if self._judgments:
            judgments = format_count(self._judgments, "judgment")
            write(f"{judgments} saved in {one_line(str(self._session.log.path))}. ")
        write(f"{_format_progress(progress)}.\n")


def _format_progress(progress: LabelingProgress) -> str:
    skipped = f", {progress.skipped} skipped" if progress.skipped else ""
    return f"{progress.judged:,} of {progress.total:,} passages judged{skipped}"


def _print_candidate(
    out: Console, candidate: PooledPassage, progress: LabelingProgress, note: str | None
) -> None:
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    out.print()
    title = Text(_format_progress(progress), style="dim")
    out.print(Rule(title, characters=symbol("─", "-"), align="left", style="dim"))
    out.print(Text(one_line(candidate.query.text), style="bold"))
    out.print()
    out.print(Text(format_breadcrumb(candidate.chunk), style="cyan"))
    out.print(Padding(Text(clean(candidate.chunk.text).strip("\n")), (0, 0, 0, INDENT)))
    out.print()
    if note:
        out.print(Text(f"note: {one_line(note)}", style="dim"))
    keys = ("0 no", "1 in part", "2 answers", "s skip", "u undo", "n note", "q quit")
    out.print(Text(symbol("  ·  ", "  |  ").join(keys), style="dim"))


def _print_agreement(session: LabelingSession, judge: Judge) -> None:
    """Print the agreement of all pairs of judges, or of those with this judge."""
    from ...validation.labels.agreement import count_by_judge, measure_agreement

    views = session.grades()
    pairs = [pair for pair in measure_agreement(views) if judge is None or judge in (pair.first, pair.second)]
    if not pairs:
        counts = ", ".join(f"{_format_judge(name)} ({count:,})" for name, count in count_by_judge(views))
        raise InvalidInput(
            "--agreement",
            f"needs passages that two judges have judged; so far these have labels: {counts or 'nobody'}",
        )
    write(render(lambda out: _print_pairs(out, session, pairs)))


def _print_pairs(out: Console, session: LabelingSession, pairs: Sequence[PairAgreement]) -> None:
    from rich.text import Text

    texts = {query.id: query.text for query in session.golden.queries}
    for pair in pairs:
        first, second = _format_judge(pair.first), _format_judge(pair.second)
        kappa = "undefined (both gave one grade only)" if pair.kappa is None else f"{pair.kappa:.2f}"
        same = pair.n - len(pair.disagreements)
        out.print(Text(f"{first} and {second}", style="bold"))
        judged = format_count(pair.n, "passage", "passages")
        out.print(f"weighted kappa {kappa} over {judged}; the same grade for {same:,}")
        if pair.disagreements:
            table = make_table(f">{first}", f">{second}", "query and passage")
            for disagreement in pair.disagreements:
                passage = disagreement.passage
                breadcrumb = session.breadcrumbs.get(passage.name, passage.name)
                description = f"{one_line(texts[passage.query])}\n{one_line(breadcrumb)}"
                table.add_row(str(disagreement.first), str(disagreement.second), Text(description))
            out.print(table)
        out.print()
    out.print("1 is full agreement, 0 is chance; a difference of two grades counts four times.")


def _format_judge(judge: Judge) -> str:
    return one_line(judge) if judge else UNNAMED_JUDGE

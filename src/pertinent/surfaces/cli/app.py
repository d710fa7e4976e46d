"""The `pertinent` command: its global options, its commands, and what becomes of an error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ...errors import InvalidInput
from . import (
    calibrate,
    compare,
    doctor,
    index,
    inspect,
    label,
    list_pages,
    migrate_to,
    reindex,
    remove,
    search,
    serve,
    settings,
    show,
    validate,
)
from .error_reporting import EXIT_CODES, guarded
from .global_options import Choices
from .terminal import prepare_streams

_FLAGS = ("--debug",)
_VALUED = ("--folder", "--embedder")


def split_global(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The global options, wherever they stand before a `--`, and all the rest in its order."""
    taken: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return taken, [*rest, argument, *waiting]
        if argument in _FLAGS or argument.startswith(tuple(f"{name}=" for name in _VALUED)):
            taken.append(argument)
        elif argument in _VALUED:
            if not waiting:
                raise InvalidInput(argument, "must be followed by a value")
            taken += [argument, waiting.pop(0)]
        else:
            rest.append(argument)
    return taken, rest


def untyped_flags(parameters: list[Any]) -> list[Any]:
    """The same parameters; Typer would show a flag as `--json <bool>`, as if it took a value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """Typer's command, with its flags shown as flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return untyped_flags(super().get_params(ctx))


class Commands(TyperGroup):
    """Typer's group, with our way of telling errors and global options that may follow the command."""

    def get_params(self, ctx: Any) -> list[Any]:
        return untyped_flags(super().get_params(ctx))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,  # noqa: ARG002 - it is `pertinent`, however it was started
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - Typer's signature
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002 - Typer's signature
        **extra: Any,
    ) -> Any:
        prepare_streams()
        arguments = sys.argv[1:] if args is None else list(args)

        def run() -> Any:
            before, rest = split_global(arguments)
            return super(Commands, self).main(
                [*before, *rest],
                prog_name="pertinent",
                complete_var=complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )

        code = guarded(run, debug="--debug" in arguments)
        if not standalone_mode:
            return code
        sys.exit(code)


def _version(wanted: bool) -> None:  # noqa: FBT001 - Typer's callbacks get the value alone
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pertinent {version('pertinent')}")
        raise typer.Exit


app = typer.Typer(
    name="pertinent",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


@app.callback()
def pertinent(
    context: typer.Context,
    folder: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Where index and catalog are kept: .pertinent unless set."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The embedding model: local:all-MiniLM-L6-v2 unless set, or onnx:FOLDER."
        ),
    ] = None,
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find the right passage of your documentation, with its exact address.

    pertinent index docs/            read a folder of Markdown
    pertinent search "how do I …"    the passages that answer, best first
    pertinent validate golden.yaml   does it find what it should? PASS or FAIL
    pertinent doctor                 is everything sound?

    --folder, --embedder and --debug may also stand after the command.
    """
    del version  # its callback has done all
    context.obj = Choices(folder=folder, embedder=embedder, debug=debug)


app.command("index", cls=Command)(index.index)
app.command("search", cls=Command)(search.search)
app.command("show", cls=Command)(show.show)
app.command("list", cls=Command)(list_pages.list_pages)
app.command("settings", cls=Command)(settings.settings)
app.command("inspect", cls=Command)(inspect.inspect)
app.command("doctor", cls=Command)(doctor.doctor)
app.command("validate", cls=Command)(validate.validate)
app.command("compare", cls=Command)(compare.compare)
app.command("calibrate", cls=Command)(calibrate.calibrate)
app.command("label", cls=Command)(label.label)
app.command("serve", cls=Command)(serve.serve)
app.command("remove", cls=Command)(remove.remove)
app.command("reindex", cls=Command)(reindex.reindex)
app.command("migrate-to", cls=Command)(migrate_to.migrate_to)

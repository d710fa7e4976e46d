"""The `pertinent` command: its global options and its commands."""

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
    export,
    index,
    inspect,
    label,
    list_pages,
    mcp,
    migrate_to,
    models,
    reindex,
    remove,
    search,
    serve,
    settings,
    show,
    suggest,
    validate,
)
from .error_reporting import EXIT_CODES, run_reporting_errors
from .global_options import GlobalOptions
from .terminal import prepare_streams

_GLOBAL_FLAGS = ("--debug",)
_GLOBAL_OPTIONS_WITH_VALUE = ("--folder", "--embedder")


def split_global_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate the global options, wherever they are before a `--`, from all other arguments.

    Examples:
        >>> split_global_options(["search", "joints", "--folder", "data"])
        (['--folder', 'data'], ['search', 'joints'])
    """
    global_options: list[str] = []
    command_arguments: list[str] = []
    remaining = list(arguments)
    assignments = tuple(f"{name}=" for name in _GLOBAL_OPTIONS_WITH_VALUE)
    while remaining:
        argument = remaining.pop(0)
        if argument == "--":
            return global_options, [*command_arguments, argument, *remaining]
        if argument in _GLOBAL_FLAGS or argument.startswith(assignments):
            global_options.append(argument)
        elif argument in _GLOBAL_OPTIONS_WITH_VALUE:
            if not remaining:
                raise InvalidInput(argument, "must be followed by a value")
            global_options += [argument, remaining.pop(0)]
        else:
            command_arguments.append(argument)
    return global_options, command_arguments


def hide_flag_types(parameters: list[Any]) -> list[Any]:
    """Remove the type from flags in the help: Typer shows `--json <bool>`, as if it took a value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A Typer command whose flags are shown without a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        return hide_flag_types(super().get_params(ctx))


class CommandGroup(TyperGroup):
    """A Typer group that reports errors in our format and accepts global options after the command."""

    def get_params(self, ctx: Any) -> list[Any]:
        return hide_flag_types(super().get_params(ctx))

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
            global_options, command_arguments = split_global_options(arguments)
            return super(CommandGroup, self).main(
                [*global_options, *command_arguments],
                prog_name="pertinent",
                complete_var=complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )

        code = run_reporting_errors(run, debug="--debug" in arguments)
        if not standalone_mode:
            return code
        sys.exit(code)


def _print_version(requested: bool) -> None:  # noqa: FBT001 - Typer passes only the value to a callback
    if requested:
        from importlib.metadata import version

        typer.echo(f"pertinent {version('pertinent')}")
        raise typer.Exit


app = typer.Typer(
    name="pertinent",
    cls=CommandGroup,
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
        typer.Option(metavar="PATH", help="The folder of the index and the catalog. Default: .pertinent."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The embedding model; `pertinent models` lists them. Default: local:all-MiniLM-L6-v2.",
        ),
    ] = None,
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Find the right passage of your documentation, with its exact address.

    pertinent index docs/            index a folder of Markdown
    pertinent search "how do I …"    print the passages that answer, best first
    pertinent validate golden.yaml   test whether searches find what they should
    pertinent doctor                 check the settings, the model and the stores

    --folder, --embedder and --debug may also follow the command.
    """
    del version  # handled by its callback
    context.obj = GlobalOptions(folder=folder, embedder=embedder, debug=debug)


app.command("index", cls=Command)(index.index)
app.command("search", cls=Command)(search.search)
app.command("suggest", cls=Command)(suggest.suggest)
app.command("show", cls=Command)(show.show)
app.command("list", cls=Command)(list_pages.list_pages)
app.command("settings", cls=Command)(settings.settings)
app.command("models", cls=Command)(models.models)
app.command("inspect", cls=Command)(inspect.inspect)
app.command("doctor", cls=Command)(doctor.doctor)
app.command("validate", cls=Command)(validate.validate)
app.command("compare", cls=Command)(compare.compare)
app.command("calibrate", cls=Command)(calibrate.calibrate)
app.command("label", cls=Command)(label.label)
app.command("serve", cls=Command)(serve.serve)
app.command("export", cls=Command)(export.export)
app.command("mcp", cls=Command)(mcp.mcp)
app.command("remove", cls=Command)(remove.remove)
app.command("reindex", cls=Command)(reindex.reindex)
app.command("migrate-to", cls=Command)(migrate_to.migrate_to)

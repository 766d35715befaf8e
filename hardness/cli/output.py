"""Print the result of a command as words, JSON or a table, and write it to a file.

`output` is the last decorator of a command. It declares --out, --format, --json, --force and
--quiet, and prints what the decorated function returns.
"""

import json
from collections.abc import Callable, Mapping
from functools import wraps
from os.path import realpath
from pathlib import Path
from typing import Any, Literal

import click

from hardness.cli.options import WRITTEN, Decorator, WrittenFile, flag, option, several
from instances.errors import Refuted, ToolkitError, UsageError

Kind = Literal["table", "folder", "page", "own"]
FORMATS = ("json", "csv", "latex", "markdown", "parquet")
_TABLE = "Format: of the table, printed alone; --out writes .csv, .tex, .md, .parquet."
_PAGE = "Format: of the table that is printed without --out."


def output(
    help: str | None,
    kind: Kind = "table",
    *,
    reads: str = "",
    ours: tuple[str, ...] = (),
    endings: tuple[str, ...] = (),
    needs: str = "",
    format: bool = True,
    forced: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Decorate a function of a command: declare its output options, and print its result.

    help: of --out, None if the command writes nothing. kind: who writes --out. For `table`, this
    decorator writes JSON or a table, by the ending. For `folder` and `page` the function writes,
    except a table of a `folder`. For `own` only the function writes. The function gets `out` and
    `force` if it writes. reads: the command that reads the file. ours: files of a folder that
    --force may replace. endings: allowed for --out. needs: the words of the error if neither --out
    nor --json is given. format: whether there is --format. forced: pass `force` even to a function
    without `out`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        @wraps(function)
        def run(
            out: Path | None,
            as_json: bool,
            force: bool,
            quiet: bool,
            family: tuple[str, ...],
            form: str | None = None,
            **options: Any,
        ) -> None:
            context = click.get_current_context()
            path = context.command_path.partition(" ")[2]
            if as_json and form not in (None, "json"):
                raise click.UsageError(f"--json and --format {form}: give one of the two")
            form = "json" if as_json else form
            if out is not None and help is None:
                raise click.UsageError(f"{path} writes nothing: leave out --out {out}")
            if out is not None and endings and out.suffix.lower() not in endings:
                raise click.UsageError(
                    f"{out}: end its name in {' or '.join(filter(None, endings))}"
                )
            chosen = _file_format(out, form, kind)
            if needs and out is None and form is None:
                raise click.UsageError(f"{path} needs {needs}")
            arguments = {
                n: v for n, v in options.items() if v is not None and v is not False and v != ()
            }
            if kind != "table":
                arguments |= {"out": out} if out else {}
            if force and (kind != "table" or forced or _writes(context, arguments)):
                arguments["force"] = True
            checks_out = kind in ("own", "folder") and not ours  # the function itself checks `out`
            _refuse(context, {**arguments, "out": None if checks_out else out}, force, ours)
            if family:
                from instances.spec import user_families

                context.with_resource(user_families(family))  # printing needs them too
            from instances.result import Answer

            result = _called(function, arguments, form, quiet)
            if out and (kind == "table" or (kind == "folder" and isinstance(result, Answer))):
                _write(out, chosen or "json", result, force)
            show(result, form)
            if out and reads and form is None:
                table = f"a table; {reads} reads what --out FILE.json writes"
                words = f"which {reads} reads" if (chosen or "json") == "json" else table
                click.echo(f"\nwritten: {out}, {words}")
            result.require()

        return _options(help, kind, format)(run)

    return decorate


def _options(help: str | None, kind: Kind, format: bool) -> Decorator:
    """Declare the options of `output`."""
    hidden, about = help is None, _PAGE if kind == "page" else _TABLE
    table = option("--format form", about, click.Choice(FORMATS), shown="words, no table")
    return several(
        option("--out", help or "", WRITTEN, hidden=hidden),
        *([table] if kind != "own" and format else []),
        flag("--json as_json", "JSON alone on stdout."),
        flag("--force", "Replace the file at --out.", hidden=hidden),
        flag("--quiet", "No progress on stderr."),
        option("--family", "", many=True, hidden=True),
    )


def _writes(context: click.Context, options: Mapping[str, Any]) -> list[str]:
    """Return the given parameters that are names of files to write."""
    types = {str(parameter.name): parameter.type for parameter in context.command.params}
    return [
        name for name, value in options.items() if value and isinstance(types[name], WrittenFile)
    ]


def _refuse(
    context: click.Context, options: Mapping[str, Any], force: bool, ours: tuple[str, ...]
) -> None:
    """Raise ToolkitError, before any work, if a file to write exists or cannot be written."""
    names = _writes(context, options)
    if not names:
        return
    from instances.disk import refuse_existing, refuse_foreign, refuse_unwritable

    read = {realpath(v) for n, v in options.items() if n not in names and isinstance(v, Path | str)}
    seen: dict[str, str] = {}
    for name in names:
        path = options[name]
        other = seen.setdefault(realpath(path), name)
        if other != name:
            flags = " and ".join(f"--{n.replace('_', '-')}" for n in (other, name))
            raise UsageError(f"{flags} name the same file: give two names")
        if realpath(path) in read:
            raise UsageError(f"{path} is read by this command: give another name to write")
        if name == "out" and ours and not path.suffix:
            refuse_foreign(path, force, ours)
        else:
            refuse_existing(path, force)
        refuse_unwritable(path)


def _called(function: Callable[..., Any], options: dict[str, Any], form: Any, quiet: bool) -> Any:
    """Call the function of a command; if it is interrupted, print its partial result."""
    from hardness.api import progress

    try:
        with progress.showing(not quiet, form == "json"):
            return function(**options)
    except Refuted as error:
        if form == "json":
            click.echo(json.dumps({"accepted": False, "reason": str(error)}, indent=1))
        else:
            from hardness.report.text import colours

            click.secho("REFUSED", fg="red", color=colours())
        raise
    except (KeyboardInterrupt, ToolkitError) as cut:
        if (partial := getattr(cut, "partial", None)) is not None:
            show(partial, form)
        if isinstance(cut, KeyboardInterrupt):
            raise click.Abort(str(cut)) from cut
        raise


def _file_format(out: Path | None, form: str | None, kind: Kind) -> str | None:
    """Return the format of --out, by its ending, else by --format; None for a folder."""
    if kind == "page" and out and form not in (None, "json"):
        raise click.UsageError("--out writes a page, as HTML: leave out --format")
    if kind not in ("table", "folder"):
        return "json"
    if out is None:
        if form == "parquet":
            raise click.UsageError("--format parquet is binary: add --out FILE.parquet")
        return None
    from hardness.report.export import ENDINGS

    by_ending = ENDINGS.get(out.suffix.lower())
    if "parquet" in (by_ending, form):
        from instances.lazy import require_extra

        require_extra("pyarrow", "a table in Parquet")
    if by_ending or kind == "folder":
        return by_ending
    if out.suffix and not form:
        raise click.UsageError(f"{out}: end its name in {', '.join(ENDINGS)}, or add --format")
    return form or "json"


def _write(out: Path, form: Any, result: Any, force: bool) -> None:
    from hardness.report.export import write
    from instances.disk import write_text

    if form == "json":
        write_text(out, result.to_json() + "\n", force=force)
    else:
        write(out, form, result, force)


def show(result: Any, form: str | None) -> None:
    """Print a result as JSON, as a table, or in words within the columns of the terminal."""
    if form == "json":
        click.echo(json.dumps(result.to_dict(), indent=result.indent))
    elif form in ("csv", "latex", "markdown"):
        from hardness.report.export import text
        from instances.text import printable

        click.echo(printable(text(form, result)), nl=False)  # type: ignore[arg-type]
    else:
        from hardness.report.text import colours, screen

        click.echo(result.text(screen(), colours()), color=True)

"""What a command does with a result: it is printed, as words, JSON or a table, and written.

`output` is the last decorator of a command: it declares --out, --format, --json, --force and
--quiet, and shows what the function below it gives back.
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
    """Show what a function gives back, and declare the options of that.

    help: of --out, None if there is nothing to write. kind: `table` writes JSON or a table as the
    name ends; `folder` and `page` are written by the function, a table by its name; `own` by the
    function alone. The function gets `out` and `force` if it writes. reads: the command that reads
    what --out holds. ours: files of a folder that --force replaces. endings: allowed of the name.
    needs: what is missing if neither --out nor --json is given. format: whether --format is one.
    forced: give `force` to a function without `out`.
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
            options = {
                n: v for n, v in options.items() if v is not None and v is not False and v != ()
            }
            if kind != "table":
                options |= {"out": out} if out else {}
            if force and (kind != "table" or forced or _writes(context, options)):
                options["force"] = True
            own = kind in ("own", "folder") and not ours  # the function looks what is at `out`
            _refuse(context, {**options, "out": None if own else out}, force, ours)
            if family:
                from instances.spec import user_families

                context.with_resource(user_families(family))  # printing needs them too
            from instances.result import Answer

            result = _called(function, options, form, quiet)
            if out and (kind == "table" or (kind == "folder" and isinstance(result, Answer))):
                _write(out, chosen or "json", result, force)
            show(result, form)
            if out and reads and form is None:
                table = f"a table; {reads} reads what --out FILE.json writes"
                told = f"which {reads} reads" if (chosen or "json") == "json" else table
                click.echo(f"\nwritten: {out}, {told}")
            result.require()

        return _options(help, kind, format)(run)

    return decorate


def _options(help: str | None, kind: Kind, format: bool) -> Decorator:
    """Declare the options of output."""
    hidden, of = help is None, _PAGE if kind == "page" else _TABLE
    table = option("--format form", of, click.Choice(FORMATS), shown="words, no table")
    return several(
        option("--out", help or "", WRITTEN, hidden=hidden),
        *([table] if kind != "own" and format else []),
        flag("--json as_json", "JSON alone on stdout."),
        flag("--force", "Replace the file at --out.", hidden=hidden),
        flag("--quiet", "No progress on stderr."),
        option("--family", "", many=True, hidden=True),
    )


def _writes(context: click.Context, options: Mapping[str, Any]) -> list[str]:
    """Name the parameters that name a file to write."""
    types = {str(one.name): one.type for one in context.command.params}
    return [
        name for name, value in options.items() if value and isinstance(types[name], WrittenFile)
    ]


def _refuse(
    context: click.Context, options: Mapping[str, Any], force: bool, ours: tuple[str, ...]
) -> None:
    """Refuse, before any work, files that stand at what the command writes; raises ToolkitError."""
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
            flags = " and ".join(f"--{one.replace('_', '-')}" for one in (other, name))
            raise UsageError(f"{flags} name the same file: give two names")
        if realpath(path) in read:
            raise UsageError(f"{path} is read by this command: give another name to write")
        if name == "out" and ours and not path.suffix:
            refuse_foreign(path, force, ours)
        else:
            refuse_existing(path, force)
        refuse_unwritable(path)


def _called(function: Callable[..., Any], options: dict[str, Any], form: Any, quiet: bool) -> Any:
    """Call the function; of one that is cut short, what was finished is shown."""
    from hardness.api import progress

    try:
        with progress.shown(not quiet, form == "json"):
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
    """Choose what --out holds: the format of its ending, else of --format; None for a folder."""
    if kind == "page" and out and form not in (None, "json"):
        raise click.UsageError("--out writes a page, as HTML: leave out --format")
    if kind not in ("table", "folder"):
        return "json"
    if out is None:
        if form == "parquet":
            raise click.UsageError("--format parquet is binary: add --out FILE.parquet")
        return None
    from hardness.report.export import ENDINGS

    written = ENDINGS.get(out.suffix.lower())
    if "parquet" in (written, form):
        from instances.lazy import require_extra

        require_extra("pyarrow", "a table in Parquet")
    if written or kind == "folder":
        return written
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
    """Print a result: in words within the columns that there are, as JSON or as a table."""
    if form == "json":
        click.echo(json.dumps(result.to_dict(), indent=result.indent))
    elif form in ("csv", "latex", "markdown"):
        from hardness.report.export import text
        from instances.text import printable

        click.echo(printable(text(form, result)), nl=False)  # type: ignore[arg-type]
    else:
        from hardness.report.text import colours, screen

        click.echo(result.text(screen(), colours()), color=True)

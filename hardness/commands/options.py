"""What every command shares: options, the target, completions, progress, output."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import click

from hardness.oracles import clock
from instances.text import printable


class Whole(click.IntRange):
    """An integer, plain or as 2e4 or 1.5e6."""

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> int:
        """Read it exactly."""
        from fractions import Fraction

        text = str(value).strip()
        written = re.fullmatch(r"-?[0-9]{1,60}(\.[0-9]{1,60})?(e[0-9]{1,2})?", text, re.ASCII)
        if not written or (found := Fraction(text)).denominator > 1:
            self.fail(
                f"{text[:40]!r} given: an integer such as 200 or 2e4 is needed", parameter, context
            )
        return int(super().convert(int(found), parameter, context))


class Wholes(click.ParamType):
    """Integers with commas, each once, in the order given."""

    name = "integers"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> list[int]:
        """Read each."""
        if isinstance(value, list):
            return value
        found = [Whole().convert(one, parameter, context) for one in str(value).split(",")]
        return list(dict.fromkeys(found))


class Number(click.ParamType):
    """A finite number, as 0.1, 1/10 or 1e-1.

    exact: as a Fraction, else as a float. above, below: bounds that it may not reach.
    """

    name = "number"

    def __init__(
        self, exact: bool = True, above: float | None = None, below: float | None = None
    ) -> None:
        """Say what is read, and between which bounds."""
        self.exact, self.above, self.below = exact, above, below

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Read it exactly, then round where a float is wanted."""
        from instances.errors import UsageError
        from instances.parameters import fraction

        try:
            found = fraction(str(value), (parameter.opts if parameter else [self.name])[-1])
        except UsageError as error:
            raise click.UsageError(str(error), context) from error
        for bound, side in ((self.above, "above"), (self.below, "below")):
            if bound is not None and not (found > bound if side == "above" else found < bound):
                self.fail(f"{value} given: a number {side} {bound:g} is needed", parameter, context)
        return found if self.exact else float(found)


POSITIVE, WHOLE, RATIONAL = Whole(min=1), Whole(min=0), Number()


_SHARED = {
    "seed": (WHOLE, 0, "Seed of all that is random."),
    "jobs": (POSITIVE, os.cpu_count() or 1, "Processes.  [default: all cores]"),
    "force": (bool, False, "Replace what stands at --out."),
    "quiet": (bool, False, "No progress on stderr."),
}
# What options of several commands mean; a command adds after a colon what it means of them.
FILE = "Where to write: the JSON, to a file."
FOLDER = "Where to write: the results, to a folder."
EXAMPLES = "Number of labelled examples"
LAYERS = "Number of layers"
LEARNER = "NAME, NAME:key=value,... or path.py:Name"
SAMPLES = "Number of samples"
SEEDS = "Number of seeds"
STEPS = "Number of steps"

Command = Callable[..., Any]


def shared(
    *uses: str, out: str | None = None, seed: str = "0", table: str = ""
) -> Callable[[Command], Command]:
    """Give a command the options that stand everywhere, as one argument `to`.

    uses: those of seed, jobs, force, quiet and family that do something, shown in its help; the
    others are taken all the same, so that scripts may give them to every command. out: what --out
    writes; None where it would write nothing, and then it is refused. seed: its default in words.
    table: "file" or "folder", what --out is where --format and its ending choose how the table of
    the command is written; "file" for FILE.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(as_json: bool, out: Path | None, **rest: Any) -> Any:
            given = {name: rest.pop(name) for name in _SHARED}
            if out is not None and unwritten:
                path = click.get_current_context().command_path.partition(" ")[2]
                raise click.UsageError(f"--out {out} given: {path} writes nothing to it")
            form = rest.pop("form") if place else None
            if as_json and form not in (None, "json"):
                raise click.UsageError(f"--json and --format {form} given: one of the two")
            form = "json" if as_json else form
            written = _written(out, form, place) if place else "json"
            given |= {"as_json": form == "json", "form": form, "written": written, "out": out}
            return command(output=SimpleNamespace(**given), **rest)

        made: Any = wrapped
        for name, (kind, default, text) in reversed(_SHARED.items()):
            flag: dict[str, Any] = {"is_flag": True} if kind is bool else {"type": kind}
            if name == "seed":
                text += f"  [default: {seed}]"
            made = click.option(
                f"--{name}", default=default, help=text, hidden=name not in uses, **flag
            )(made)
        made = click.option("--out", type=click.Path(path_type=Path), help=out, hidden=unwritten)(
            made
        )
        made = click.option(
            "--family",
            multiple=True,
            callback=_named_families,
            expose_value=False,
            hidden="family" not in uses,
            help="path.py:Name, a family that specs in files name; repeatable.",
        )(made)
        if place:
            made = click.option(
                "--format",
                "form",
                type=click.Choice(["json", "csv", "latex", "markdown", "parquet"]),
                help="Format: the table alone on stdout; --out writes it as .csv, .tex, .md, "
                ".parquet.  [default: text]",
            )(made)
        return click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout.")(made)

    unwritten, place = out is None, "file" if out is FILE else table
    return decorate


def _written(out: Path | None, form: str | None, place: str) -> str | None:
    """Choose what --out holds: the format of its ending, else of --format; None for a folder."""
    if out is None:
        if form == "parquet":
            raise click.UsageError("--format parquet is binary: add --out FILE.parquet")
        return None
    from instances.export import ENDINGS

    found = ENDINGS.get(out.suffix.lower())
    if "parquet" in (found, form):
        from instances.extras import require_extra

        require_extra("pyarrow", "a table in Parquet")
    if found or place == "folder":
        return found
    if out.suffix and not form:
        raise click.UsageError(
            f"--out {out} given: end its name in {', '.join(ENDINGS)}, or add --format"
        )
    return form or "json"


def given_seed(context: click.Context, output: SimpleNamespace) -> int | None:
    """Return --seed where it was given; None has the operating system draw what is secret."""
    default = context.get_parameter_source("seed") is click.core.ParameterSource.DEFAULT
    return None if default else output.seed


def moved(old: str, new: str) -> None:
    """Say that an option was given by an earlier name, which answers for one release."""
    click.echo(f"hardness: {old} is now {new}", err=True)


def emit(
    output: SimpleNamespace, data: Any, text: str, write: bool = True, table: Any = None
) -> None:
    """Print text, JSON or a table, and write the JSON or the table to --out.

    table: a result, or rows; by default one row of what the JSON holds.
    """
    table = flat_row(data) if table is None else table
    if write:
        write_out(output, data, table)
    if output.as_json:
        click.echo(json.dumps(data, indent=1))
    elif output.form in ("csv", "latex", "markdown"):
        from instances.export import text as written

        click.echo(printable(written(output.form, table)), nl=False)
    else:
        say(text)


def write_out(output: SimpleNamespace, data: Any, table: Any) -> None:
    """Write the JSON or the table to --out, if it is given."""
    if output.out:
        from instances.export import write

        write(output.out, output.written, lambda: data, table, output.force)


def flat_row(data: Any) -> list[Any]:
    """Lay JSON out as a table of one row."""
    from instances.export import flat

    return [flat(data)] if isinstance(data, dict) else data


def say(text: str) -> None:
    """Print a text within the columns that there are, with colour where that is wanted."""
    from hardness.report.columns import colours, laid_out, screen

    click.echo(laid_out(text, screen(), colours()), color=True)


def refuse_existing_output(output: SimpleNamespace) -> None:
    """Refuse an --out file that exists before any work is done."""
    if output.out:
        from instances.disk import refuse_existing, refuse_unwritable

        refuse_existing(output.out, output.force)
        refuse_unwritable(output.out)


@contextmanager
def progress(total: int, label: str, output: SimpleNamespace) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr for what takes over a second; a line now and then where it is a file."""
    if output.quiet:
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        yield _lines(total, label)
        return
    start, waiting, bar = clock.now(), 0, None
    made = click.progressbar(length=total, label=label, file=sys.stderr)

    def update(done: int) -> None:
        nonlocal waiting, bar
        waiting += done
        if bar is None and clock.now() - start > 1:
            bar = made.__enter__()
        if bar is not None:
            bar.update(waiting)
            waiting = 0

    try:
        yield update
    finally:
        if bar is not None:
            made.__exit__(None, None, None)


_EVERY = 15.0  # seconds between lines of progress


def _lines(total: int, label: str) -> Callable[[int], None]:
    """Count what is done, and say it on stderr in a line every few seconds."""
    from hardness.report.progress import duration

    start = said = clock.now()
    count = 0

    def update(done: int) -> None:
        nonlocal said, count
        count += done
        now = clock.now()
        if done and now - said >= _EVERY and count < total:
            said = now
            click.echo(f"{label}: {count} of {total}, {duration(now - start)} so far", err=True)

    return update


@contextmanager
def waiting(label: str, output: SimpleNamespace) -> Iterator[None]:
    """Count seconds on stderr while one thing takes over a second."""
    if output.quiet or not sys.stderr.isatty():
        yield
        return
    start, ended = clock.now(), Event()

    def count() -> None:
        shown = False
        while not ended.wait(1):
            shown = True
            click.echo(f"\r{label}, {clock.now() - start:.0f} s", nl=False, err=True)
        if shown:
            click.echo(f"\r{' ' * (len(label) + 12)}\r", nl=False, err=True)

    counter = Thread(target=count, daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join()


def complete_spec(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete names of families and of the catalog."""
    from instances.catalog import CATALOG
    from instances.spec import known

    return [n for n in [*(f + ":" for f in known()), *CATALOG] if n.startswith(text)]


def complete_learner(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete names of learners."""
    from hardness.upper import LEARNERS

    return [n for n in LEARNERS if n.startswith(text)]


spec_argument = click.argument("spec", shell_complete=complete_spec)


def size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read an option's number of bytes, "500MB" or "4GiB"."""
    if value is None:
        return None
    from instances.limits import bytes_of

    return bytes_of(value, f"--{(parameter.name or '').replace('_', '-')}")


def _into_environment(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> None:
    """Hand an option to all processes that the command starts, until it ends."""
    if value is not None:
        _set_until_closed(context, f"HARDNESS_{str(parameter.name).upper()}", value)


def _named_families(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> None:
    """Have the command, and all processes that it starts, know families from files."""
    if values:
        from instances.spec import VARIABLE, named

        before = os.environ.get(VARIABLE, "")
        _set_until_closed(context, VARIABLE, ";".join(filter(None, (before, *values))))
        named()


def _set_until_closed(context: click.Context, name: str, value: str) -> None:
    before = os.environ.get(name)
    os.environ[name] = value
    context.call_on_close(
        lambda: os.environ.pop(name) if before is None else os.environ.update({name: before})
    )


def containment_options(command: Command) -> Command:
    """Give a command that runs learners from files --contain and --device."""
    made = click.option(
        "--contain",
        type=click.Choice(["bubblewrap", "landlock", "off"]),
        callback=_into_environment,
        expose_value=False,
        help="How learners from files are closed in.  [default: the best there is]",
    )(command)
    return click.option(
        "--device",
        callback=_into_environment,
        expose_value=False,
        help="A GPU that learners from files may use: cuda, or nvidia0.  [default: none]",
    )(made)


def _budget_options(seconds: float | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the decorator that gives a command the budgets, with a default of seconds."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        above = Number(exact=False, above=0)
        of_rung = None if seconds else "that of the rung"

        @containment_options
        @click.option(
            "--budget-examples",
            type=POSITIVE,
            help=f"Examples to draw.  [default: {of_rung or 'no limit'}]",
        )
        @click.option(
            "--budget-queries", type=POSITIVE, help="Queries to ask.  [default: no limit]"
        )
        @click.option(
            "--budget-values",
            type=POSITIVE,
            help="Tokens to ask labels of, for membership queries.  [default: no limit]",
        )
        @click.option(
            "--budget-seconds",
            type=above,
            default=seconds,
            help="Seconds, looked at between draws and queries; held for learners from files.  "
            f"[default: {of_rung or format(seconds, 'g')}]",
        )
        @click.option(
            "--budget-cpu",
            type=above,
            help="CPU seconds, of learners from files.  [default: no limit]",
        )
        @click.option(
            "--budget-memory",
            callback=size,
            help="500MB, 4GiB, ...: of learners from files.  [default: 4GiB]",
        )
        @wraps(command)
        def wrapped(
            budget_examples: int | None,
            budget_queries: int | None,
            budget_values: int | None,
            budget_seconds: float | None,
            budget_cpu: float | None,
            budget_memory: int | None,
            **rest: Any,
        ) -> Any:
            from hardness.oracles import Budget

            budget = Budget(
                examples=budget_examples,
                queries=budget_queries,
                values=budget_values,
                seconds=budget_seconds,
                cpu_seconds=budget_cpu,
                memory_bytes=budget_memory,
            )
            return command(budget=budget, **rest)

        return wrapped

    return decorate


budget_options = _budget_options(60.0)  # as one argument `budget`

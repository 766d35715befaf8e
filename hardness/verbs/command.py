"""A command is made of a verb: its options of the signature, its help of the docstring.

A verb is a function whose parameters say what they ask for: those before `*` are arguments, the
others options, and `**limits: Unpack[Limits]` takes all of a TypedDict. It is called alike from
Python and from the command line, gives back a result that prints itself, and knows nothing of
screens; `--json`, `--out`, `--format`, `--force` and `--quiet` are the command's.
"""

import json
import os
import re
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, wraps
from inspect import Parameter, Signature, formatannotation, signature
from os.path import realpath
from pathlib import Path
from types import FunctionType
from typing import Any, ForwardRef, Literal, ParamSpec, TypeVar, get_args

import click

from hardness.report.columns import bad, colours, laid_out, screen
from hardness.verbs import ask, progress
from hardness.verbs.ask import Ask, called
from instances.errors import Refuted, ToolkitError, withdrawn, withdrawn_names
from instances.text import printable

_P = ParamSpec("_P")
_R = TypeVar("_R")
Place = Literal["file", "folder", "table", "page", "own", ""]
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_TABLES = ("json", "csv", "latex", "markdown", "parquet")
_PRINTED = "the table alone on stdout; --out writes it as .csv, .tex, .md, .parquet."
# What every command takes, so that scripts may give it to each; a verb that takes it says so.
_EVERYWHERE = {"seed": ask.whole("Seed of all that is random.", 0), "jobs": ask.whole("Processes.")}


_CALLS: ContextVar[tuple["Verb", dict[str, Any]] | None] = ContextVar("_CALLS", default=None)


@dataclass
class Verb:
    """Makes a function a verb: its arguments are read as they ask to be before anything is done.

    short: help in one line. out: help of --out; None where there is nothing to write. place: what
    --out holds: a `file` of JSON; a `table`, JSON or a table as its name ends; a `folder`, or a
    table; a `page`, where a table is printed without; its `own`, which the verb writes itself as it
    has a parameter `out`. endings: of its name. ours: files of a folder, which it replaces where it
    is forced to. reads: the command that reads what --out holds. needs: what is missing where
    nothing says where to write, though all arguments are given. instead: another verb and the flag
    by which the command runs it.
    """

    short: str
    out: str | None = None
    place: Place = "table"
    endings: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    reads: str = ""
    needs: str = ""
    instead: tuple[str, Callable[..., Any]] | None = None

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """Give back the function, which reads its arguments and has this as `verb`."""
        self.function, self.signature = function, signature(function)

        @wraps(function)
        def called_by(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                given = self.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{function.__name__}: {error}") from None
            said: dict[str, Any] = {}
            for name, value in given.arguments.items():
                said |= {name: value} if name in self.asked else value  # of a TypedDict
            for name in said.keys() - self.asked.keys():
                gone = withdrawn("option", called(name))
                raise TypeError(f"{function.__name__}: {gone or f'there is no argument {name!r}'}")
            said = {name: said[name] for name in self.asked if name in said}
            token = _CALLS.set((self, said))
            read = {name: self.read(name, value) for name, value in said.items()}
            self.refuse(read)
            try:
                with self.around(read):
                    return function(**read)  # type: ignore[call-arg]
            finally:
                _CALLS.reset(token)

        called_by.verb = self  # type: ignore[attr-defined]
        called_by.__signature__ = self.shown()  # type: ignore[attr-defined]
        return called_by

    def shown(self) -> Signature:
        """Give the signature that help shows: types alone, and each option of a TypedDict."""
        every: list[Parameter] = []
        for one in self.signature.parameters.values():
            if one.kind is not Parameter.VAR_KEYWORD:
                every.append(one.replace(annotation=_type(one.annotation)))
                continue
            [group] = get_args(one.annotation)
            for name, annotation in group.__annotations__.items():
                told = _type(annotation)
                default = _default(_asked(annotation), told)
                named = Parameter.KEYWORD_ONLY
                every.append(Parameter(name, named, default=default, annotation=told))
        returned = _Shown(self.signature.return_annotation)
        return self.signature.replace(parameters=every, return_annotation=returned)

    @cached_property
    def asked(self) -> dict[str, Ask]:
        """What each parameter asks for, those of a TypedDict among them."""
        found: dict[str, Ask] = {}
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is Parameter.VAR_KEYWORD:
                [group] = get_args(parameter.annotation)
                found |= {one: _asked(kind) for one, kind in group.__annotations__.items()}
            else:
                found[name] = _asked(parameter.annotation)
        return found

    def read(self, name: str, given: Any) -> Any:
        """Read an argument as it asks to be, None where it may be left out; raises UsageError."""
        from instances.arguments import refused

        stands = self.signature.parameters.get(name)
        said = name if stands is not None and self.is_argument(name) else called(name)
        if given is not None:
            return self.asked[name].value(said, given)
        if stands is None or stands.default is None:
            return None
        raise refused(said, given, "a value")

    def is_argument(self, name: str) -> bool:
        """Whether it stands on the command line without a name."""
        stands = self.signature.parameters.get(name)
        named = stands is None or stands.kind is Parameter.KEYWORD_ONLY
        return not named and self.asked[name].flag is None

    def lacks(self, given: Mapping[str, Any], form: str | None) -> bool:
        """Whether it would write or show nothing, where no --out is given."""
        stands = self.signature.parameters.get("out")
        if stands is not None and stands.default is Parameter.empty:
            return True
        arguments = {name for name in self.asked if self.is_argument(name)}
        return bool(self.needs) and form is None and arguments <= set(given)

    def refuse(self, given: Mapping[str, Any], out: Path | None = None) -> None:
        """Refuse, before any work, files that stand where the verb writes; raises ToolkitError."""
        from instances.disk import refuse_existing, refuse_foreign, refuse_unwritable
        from instances.errors import UsageError

        writes = {n: Path(given[n]) for n, one in self.asked.items() if one.writes and given.get(n)}
        writes |= {"out": out} if out else {}
        if not writes:
            return
        read = {
            realpath(v) for n, v in given.items() if n not in writes and isinstance(v, Path | str)
        }
        seen: dict[str, str] = {}
        for name, where in writes.items():
            if (other := seen.setdefault(realpath(where), name)) != name:
                raise UsageError(
                    f"{called(other)} and {called(name)} name the same file: give two names"
                )
            if realpath(where) in read:
                raise UsageError(f"{where} given: the run reads it, give another name to write")
            force = bool(given.get("force"))
            if name == "out" and self.place == "folder" and not (where.suffix or self.ours):
                continue  # a folder of runs, in which the same command goes on
            if name == "out" and self.ours and not where.suffix:
                refuse_foreign(where, force, self.ours)
            else:
                never = "force" in self.asked and self.asked["force"].hidden
                refuse_existing(where, force or (None if never else False))
            refuse_unwritable(where)

    @contextmanager
    def around(self, given: dict[str, Any]) -> Iterator[None]:
        """Put what stands in the environment there, until the verb has ended."""
        there = {
            one.variable: given.pop(name)
            for name, one in self.asked.items()
            if one.variable and name in given
        }
        before = {name: os.environ.get(name) for name in there}
        os.environ.update({name: "1" for name, value in there.items() if value})
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def line() -> str:
    """Write the command line of the verb that runs, but for how many processes do it."""
    called_now = _CALLS.get()
    if called_now is None:
        return ""
    made, every = called_now
    words, options = ["hardness", made.function.__name__], list[str]()
    for name, value in every.items():
        asked = made.asked[name]
        several = isinstance(value, Iterable) and not isinstance(value, str)
        for one in map(_by_name, value if asked.many and several else (value,)):
            if made.is_argument(name):
                words.append(str(one))
            elif one not in (None, False) and name not in ("force", "jobs", "fresh"):
                options += [asked.flag or called(name), *([] if asked.switch else [str(one)])]
    return shlex.join([*words, *options])


def _by_name(value: Any) -> Any:
    """Give the name of a learner that Python gave as an object; anything else as it is."""
    if isinstance(value, type | FunctionType):
        return value.__name__
    if not hasattr(value, "learn") and not hasattr(value, "fit"):
        return value
    from hardness.learners import learner_spec

    return learner_spec(value) if hasattr(value, "name") else type(value).__name__


class _Shown(str):
    """A text that stands in a signature as it is, without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def _type(annotation: Any) -> _Shown:
    """Write the type of a parameter, without what it asks for."""
    kind = get_args(annotation)[0]
    return _Shown(kind.__forward_arg__ if isinstance(kind, ForwardRef) else formatannotation(kind))


def _default(asked: Ask, kind: str) -> Any:
    """Show the default of an option of a TypedDict: a value, None where it may be, or an ellipsis.

    >>> _default(ask.number("Seconds.", default="60"), "float | None")
    60
    >>> _default(ask.whole("Queries.", default="no limit"), "int | None") is None
    True
    """
    if asked.switch:
        return False
    if asked.many:
        return ()
    said = asked.default or ""
    if _NUMBER.fullmatch(said):
        return _Shown(said)
    if said.isalnum() and said != "none":
        return said
    return None if "None" in kind or kind == "Any" else _Shown("...")


def _asked(annotation: Any) -> Ask:
    [found] = [one for one in annotation.__metadata__ if isinstance(one, Ask)]
    return found


verb = Verb


# Commands


def command(name: str, function: Callable[..., Any]) -> click.Command:
    """Make the command of a verb."""
    made: Verb = function.verb  # type: ignore[attr-defined]
    parameters: list[click.Parameter] = []
    for one, asked in made.asked.items():
        stands = made.signature.parameters.get(one)
        if one in ("out", "force"):
            continue
        if stands is not None and made.is_argument(one):
            parameters.append(_argument(one, asked, stands))
        else:
            parameters.append(_option(one, asked, stands.default if stands else None))
    if made.instead:
        flag, other = made.instead
        told = ask.flag(other.verb.short, flag=flag)  # type: ignore[attr-defined]
        parameters.append(_option("instead", told, False))
    parameters += [_option(n, a, None, True) for n, a in _EVERYWHERE.items() if n not in made.asked]
    about = textwrap.dedent(function.__doc__ or "").partition(">>>")[0]
    return _Command(
        name,
        params=[*parameters, *_written(made)],
        callback=lambda **given: _run(function, made, given),
        help=about.strip(),
        short_help=made.short,
    )


class _Command(click.Command):
    """A command whose help has a section a group of options."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Answer an unknown option with its relatives, and one that is given twice."""
        try:
            order = self.make_parser(context).parse_args(list(args))[2]
        except click.NoSuchOption as error:
            shown = [o.opts[0] for o in self.params if not getattr(o, "hidden", True)]
            if (now := withdrawn_names()["option"].get(error.option_name)) in shown:
                raise click.UsageError(f"{error.message} It is {now} now.", context) from error
            if now and not now.startswith("--"):
                gone = withdrawn("option", error.option_name)
                raise click.UsageError(gone, context) from error
            word = error.option_name.strip("-")
            kin = [n for n in shown if word in n[2:].split("-")]
            kin += [n for n in shown if n[3:] and word.startswith(n[2:]) and n not in kin]
            if not kin:
                raise
            told = f"{error.message} Did you mean {' or '.join(kin)}?"
            raise click.UsageError(told, context) from error
        single = [o for o in order if isinstance(o, click.Option) and not (o.multiple or o.is_flag)]
        if twice := next((one for one in single if single.count(one) > 1), None):
            raise click.UsageError(f"{twice.opts[0]} is given twice: once is needed", context)
        return super().parse_args(context, args)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that have no group first."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "": []}
        for parameter in self.get_params(context):
            if isinstance(parameter, _Argument):
                groups["Arguments"].append((parameter.make_metavar(context), parameter.told))
            elif row := parameter.get_help_record(context):
                groups.setdefault(getattr(parameter, "group", ""), []).append(row)
        for title, rows in groups.items():
            if rows:
                with formatter.section(title or "Options"):
                    formatter.write_dl(rows)


class _Option(click.Option):
    group = ""


class _Argument(click.Argument):
    told = ""


def _argument(name: str, asked: Ask, stands: Parameter) -> click.Argument:
    found = _Argument(
        [name],
        required=stands.default is Parameter.empty,
        nargs=-1 if asked.many else 1,
        type=_Text(asked),
        shell_complete=_completer(asked),
    )
    found.told = asked.help
    return found


def _option(name: str, asked: Ask, default: Any, hidden: bool = False) -> click.Option:
    said = asked.default
    if said is None and default not in (None, Parameter.empty, ()) and default is not False:
        said = format(default, "g") if isinstance(default, float) else str(default)
    told = f"  [default: {said}]" if said and not asked.switch else ""
    found = _Option(
        [asked.flag or called(name), name],
        help=asked.help.rstrip(".") + ("" if asked.help.endswith("]") else ".") + told,
        required=default is Parameter.empty,
        is_flag=asked.switch or None,
        multiple=asked.many,
        hidden=hidden or asked.hidden,
        type=None if asked.switch else _Text(asked),
        metavar=None if asked.switch else asked.metavar,
        shell_complete=_completer(asked),
    )
    found.group = asked.group
    return found


class _Text(click.ParamType):
    """What is given as text, which the verb reads."""

    def __init__(self, asked: Ask) -> None:
        self.name, self.asked = "choice" if asked.choices else asked.metavar.lower(), asked

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Name the words of a choice."""
        return "|".join(self.asked.choices) or None


def _completer(asked: Ask) -> Any:
    def complete(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
        known = asked.complete() if asked.complete else asked.choices
        return [name for name in known if name.startswith(text)]

    return complete


def _written(made: Verb) -> Iterator[click.Option]:
    """The options that are the command's own."""
    yield _Option(
        ["--out"],
        type=click.Path(path_type=Path),
        help=made.out,
        hidden=made.out is None,
    )
    if made.place in ("table", "folder", "page"):
        told = _PRINTED if made.place != "page" else "of the table that is printed without --out."
        yield _Option(
            ["--format", "form"],
            type=click.Choice(_TABLES),
            help=f"Format: {told}  [default: words, no table]",
        )
    yield _Option(["--json", "as_json"], is_flag=True, help="JSON alone on stdout.")
    yield _Option(
        ["--force"],
        is_flag=True,
        help="Replace what stands at --out.",
        hidden=made.out is None or ("force" in made.asked and made.asked["force"].hidden),
    )
    yield _Option(["--quiet"], is_flag=True, help="No progress on stderr.")
    yield _Option(
        ["--family"],
        multiple=True,
        hidden=True,
        help="path.py:Name, a family that specs in files name; repeatable.",
    )


def _run(function: Callable[..., Any], made: Verb, given: dict[str, Any]) -> None:
    """Call the verb with what was given, print what it gives back, and write it."""
    if made.instead and given.pop("instead"):
        function = made.instead[1]
        made = function.verb  # type: ignore[attr-defined]
    form, out = given.pop("form", None), given.pop("out")
    as_json, force, quiet = given.pop("as_json"), given.pop("force"), given.pop("quiet")
    families = given.pop("family")
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} given: one of the two")
    form = "json" if as_json else form
    path = click.get_current_context().command_path.partition(" ")[2]
    if out is not None and made.out is None:
        raise click.UsageError(f"--out {out} given: {path} writes nothing to it")
    if out is not None and made.endings and out.suffix.lower() not in made.endings:
        raise click.UsageError(
            f"--out {out} given: end its name in {' or '.join(filter(None, made.endings))}"
        )
    chosen = _form(out, form, made.place)
    said = {
        name: v for name, v in given.items() if name in made.asked and v not in (None, (), False)
    }
    for name, value in {"out": out, "force": force}.items():
        if name in made.asked and value:
            said[name] = value
    if out is None and made.lacks(said, form):
        with ask.flags():
            for name in filter(made.is_argument, said):
                made.read(name, said[name])  # which is wrong before anything is missing
        raise click.UsageError(f"{path} needs {made.needs}")
    if families:
        from instances.spec import own_families

        click.get_current_context().with_resource(own_families(families))  # printing needs them too
    with ask.flags(), progress.shown(not quiet, form == "json"):
        if out and "out" not in made.asked:
            made.refuse({**said, "force": force}, out)
        try:
            found = function(**said)
        except Refuted as error:
            refused = json.dumps({"accepted": False, "reason": str(error)}, indent=1)
            click.echo(refused if form == "json" else laid_out(bad("REFUSED"), 80, colours()))
            raise
        except KeyboardInterrupt as cut:
            if (partial := getattr(cut, "partial", None)) is not None:
                show(partial, form)
            raise click.Abort(str(cut)) from cut
        except ToolkitError as cut:
            if (partial := getattr(cut, "partial", None)) is not None:
                show(partial, form)
            raise
    from instances.result import Answer

    own = made.place in ("own", "page") or not isinstance(found, Answer)
    written = own and "out" in made.asked
    if out and made.endings and not written:
        found.save(out, force=force)
    elif out and not written:
        from hardness.report.export import write
        from instances.disk import write_text

        if (chosen or "json") == "json":
            write_text(out, found.to_json() + "\n", force=force)
        else:
            write(out, chosen, found, force)
    show(found, form)
    if out and made.reads and form is None:
        table = f"a table; what {made.reads} reads is written by --out FILE.json"
        told = f"which {made.reads} reads" if (chosen or "json") == "json" else table
        click.echo(f"\nwritten: {out}, {told}")
    found.require()


def _form(out: Path | None, form: Any, place: Place) -> Any:
    """Choose what --out holds: the format of its ending, else of --format; None for a folder."""
    if place == "page" and out and form not in (None, "json"):
        raise click.UsageError(f"--out and --format {form} given: --out writes a page, as HTML")
    if place not in ("table", "folder"):
        return "json"
    if out is None:
        if form == "parquet":
            raise click.UsageError("--format parquet is binary: add --out FILE.parquet")
        return None
    from hardness.report.export import ENDINGS

    found = ENDINGS.get(out.suffix.lower())
    if "parquet" in (found, form):
        from instances.lazy import require_extra

        require_extra("pyarrow", "a table in Parquet")
    if found or place == "folder":
        return found
    if out.suffix and not form:
        raise click.UsageError(
            f"--out {out} given: end its name in {', '.join(ENDINGS)}, or add --format"
        )
    return form or "json"


def show(found: Any, form: Any) -> None:
    """Print a result: in words within the columns that there are, as JSON or as a table."""
    if form == "json":
        click.echo(json.dumps(found.to_dict(), indent=found.indent))
    elif form in ("csv", "latex", "markdown"):
        from hardness.report.export import text

        click.echo(printable(text(form, found)), nl=False)
    else:
        click.echo(found.text(screen(), colours()), color=True)

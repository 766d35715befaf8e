"""Declare arguments and options of commands, with those that several commands share."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

Names = Callable[[], Iterable[str]]
Decorator = Callable[[Any], Any]
LIMITS = "Limits of learners"


class Integer(click.ParamType):
    """An integer, as 200 or 2e4; the function that gets it checks its range."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> int:
        """Read it; raises UsageError."""
        from instances.arguments import exact, refused
        from instances.errors import UsageError

        name = param.name if param and param.name else "a number"
        if isinstance(value, int):
            return value
        try:
            number = exact(name, value)
        except UsageError:
            number = None
        if number is None or number.denominator != 1:
            raise refused(name, value, "an integer such as 200 or 2e4")
        return int(number)


class Text(click.ParamType):
    """A text that the function of the command reads; name: what it is, for help."""

    def __init__(self, name: str = "text") -> None:
        self.name = name


class Words(click.ParamType):
    """One of some words; the function of the command refuses others."""

    name = "choice"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """List the words."""
        return "|".join(self.choices)


class WrittenFile(click.ParamType):
    """The path of a file that the command writes."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Path:
        """Make a path of it."""
        return Path(value)


INTEGER, NUMBER, TEXT = Integer(), Text("number"), Text()
LARGE = Text("integer")  # as 2^128
PATH, WRITTEN = Text("path"), WrittenFile()


class _Described(click.Parameter):
    """A parameter with a line or a section in the help, and names for shell completion."""

    def __init__(
        self,
        *settings: Any,
        about: str = "",
        section: str = "",
        complete: Names | None = None,
        **more: Any,
    ) -> None:
        super().__init__(*settings, **more)
        self.about, self.section, self.complete = about, section, complete

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names or allowed words that begin with the incomplete text."""
        names = self.complete() if self.complete else getattr(self.type, "choices", ())
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class Argument(_Described, click.Argument):
    """An argument with a line in the help."""


class Option(_Described, click.Option):
    """An option in a section of the help."""


def argument(
    name: str,
    help: str,
    complete: Names | None = None,
    *,
    type: click.ParamType = TEXT,
    required: bool = True,
    many: bool = False,
) -> Decorator:
    """Declare an argument; many: any number of them."""
    nargs = -1 if many else 1
    return click.argument(
        name,
        cls=Argument,
        type=type,
        required=required,
        nargs=nargs,
        about=help,
        complete=complete,
    )


def option(
    name: str,
    help: str,
    type: click.ParamType = TEXT,
    default: Any = None,
    *,
    shown: str = "",
    many: bool = False,
    **more: Any,
) -> Decorator:
    """Declare an option, as "--name" or "--name parameter".

    default: passed to the function, and shown in help. shown: the default in words, if nothing is
    passed to the function. many: whether it may be repeated. more: its section of the help, its
    completion, and arguments of click.Option.
    """
    usual = {} if default is None else {"default": default, "show_default": True}
    words = f"{help}  [default: {shown}]" if shown else help
    return click.option(
        *name.split(), cls=Option, type=type, help=words, multiple=many, **usual, **more
    )


def flag(name: str, help: str, **more: Any) -> Decorator:
    """Declare an option without a value; more: as of `option`."""
    return click.option(*name.split(), cls=Option, is_flag=True, help=help, **more)


def several(*decorators: Decorator) -> Decorator:
    """Make one decorator of several, which declare their options in this order."""

    def decorate(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


# Names for shell completion


def specs() -> list[str]:
    """List the beginnings of SPECs: families and the catalog."""
    from instances.spec import catalog, family_names

    return [*(f"{name}:" for name in family_names()), *catalog()]


def learners() -> list[str]:
    """List the built-in learners."""
    from hardness.runs.registry import LEARNERS

    return list(LEARNERS)


def ladders() -> list[str]:
    """List the ladders."""
    from instances.ladders import LADDERS

    return list(LADDERS)


def problems() -> list[str]:
    """List the families that attacks apply to, and parameter sets."""
    from hardness.lwe.sets import SETS

    return ["lwe:", "lwr:", "lpn:", "parity:", *SETS]


# Options that several commands share


SEED = "Seed of everything random."
LEARNER = "NAME, NAME:key=value,... or path.py:Name"

seed = option("--seed", SEED, INTEGER, 0)
jobs = option("--jobs", "Processes.", INTEGER, shown="all cores")
tau = option("--tau", "Tolerance of STAT.", NUMBER, "0.1")


def seeds(more: str, default: int) -> Decorator:
    """Declare --seeds; more: what else its help says."""
    return option("--seeds", f"Number of instances, a seed each{more}.", INTEGER, default)


def confidence(default: float) -> Decorator:
    """Declare --confidence."""
    return option("--confidence", "Confidence of the interval.", NUMBER, default)


def samples_files(section: str = "") -> Decorator:
    """Declare the options of samples in files: --a, --b, --spec."""
    return several(
        option(
            "--a",
            "File of A, in place of SOURCE: .npy, .npz, .safetensors or .csv.",
            PATH,
            shown="none",
            section=section,
        ),
        option("--b", "File of b, with --a.", PATH, shown="none", section=section),
        option(
            "--spec",
            "The family of a file of samples.",
            complete=specs,
            shown="the one that the file names",
            section=section,
        ),
    )


def _into_environment(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Set the environment variable of --sandbox, which processes inherit, during the command."""
    if value:
        name = "HARDNESS_SANDBOX"
        before = os.environ.get(name)
        os.environ[name] = "1"
        context.call_on_close(
            lambda: os.environ.pop(name) if before is None else os.environ.update({name: before})
        )


# For learners from files.
sandbox = flag(
    "--sandbox",
    "Run learners from files in bubblewrap, or refuse: it is used if it runs.",
    expose_value=False,
    callback=_into_environment,
    section=LIMITS,
)


def budget(examples: str = "no limit", seconds: str = "60") -> Decorator:
    """Declare the limits on learners; examples, seconds: the defaults in words."""

    def limit(name: str, help: str, type: click.ParamType, shown: str) -> Decorator:
        return option(f"--budget-{name}", help, type, shown=shown, section=LIMITS)

    each = " of each process of learners from files."
    return several(
        sandbox,
        limit("examples", "Examples to draw.", INTEGER, examples),
        limit("queries", "Statistical queries to ask.", INTEGER, "no limit"),
        limit("values", "Membership queries: labels of chosen inputs.", INTEGER, "no limit"),
        limit(
            "seconds",
            "Seconds, checked between draws and queries; enforced for learners from files.",
            NUMBER,
            seconds,
        ),
        limit("cpu", f"CPU seconds{each}", NUMBER, "no limit"),
        limit("memory", f"500MB, 4GiB, ...:{each}", TEXT, "4GiB"),
    )


def group_of(parameters: Sequence[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """Return the parameters by their section of the help."""
    sections: dict[str, list[click.Parameter]] = {"Arguments": [], "Options": []}
    for parameter in parameters:
        is_argument = isinstance(parameter, Argument)
        title = "Arguments" if is_argument else getattr(parameter, "section", "")
        sections.setdefault(title or "Options", []).append(parameter)
    return sections

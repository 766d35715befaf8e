"""What several verbs ask for in the same words."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from hardness.verbs.ask import choice, flag, number, path, rational, size, text, thing, whole

if TYPE_CHECKING:
    from fractions import Fraction
    from os import PathLike

    from hardness.oracles import Budget
    from instances import AttentionLayer


def specs() -> list[str]:
    """Name families and the catalog, which a SPEC begins with."""
    from instances.spec import catalog, known

    return [*(f"{name}:" for name in known()), *catalog()]


def learners() -> list[str]:
    """Name the built-in learners."""
    from hardness.runs.registry import LEARNERS

    return list(LEARNERS)


def ladders() -> list[str]:
    """Name the ladders."""
    from instances.ladders import LADDERS

    return list(LADDERS)


SOURCE = thing("A SPEC, a folder of `hardness generate`, or what the verb says.", specs)
LEARNER = thing("NAME, NAME:key=value,... or path.py:Name", learners)
SPEC_OF = text(
    "The family of a file of samples.",
    complete=specs,
    default="the one that the file names",
)
A_FILE = path(
    "File of A alone, in place of SOURCE: .npy, .npz, .safetensors or .csv.", default="none"
)
B_FILE = path("File of b, beside --a.", default="none")
SEED = whole("Seed of all that is random.", 0)
JOBS = whole("Processes.", default="all cores")
SEEDS = whole("Number of seeds")
TAU = rational("Tolerance of STAT.")
CONFIDENCE = number("Confidence of what is sampled.", above=0, below=1)
FORCE = flag("Replace what stands at --out.")
FRESH = flag("Begin again: forget the runs in the folder --out, where the same command goes on.")
FILE = "Where to write: the JSON, to a file."
_LIMIT = "Limits of learners"


class Sandboxed(TypedDict, total=False):
    """Whether learners from files must run in a sandbox."""

    sandbox: Annotated[
        bool,
        flag(
            "Run learners from files in bubblewrap, or refuse: it is used where it runs.",
            group=_LIMIT,
            variable="HARDNESS_SANDBOX",
        ),
    ]


class _Limits(Sandboxed, total=False):
    budget_queries: Annotated[
        int | None, whole("Queries to ask.", default="no limit", group=_LIMIT)
    ]
    budget_values: Annotated[
        int | None,
        whole("Tokens to ask labels of, for membership queries.", default="no limit", group=_LIMIT),
    ]
    budget_cpu: Annotated[
        float | None,
        number(
            "CPU seconds, of each process of learners from files.",
            above=0,
            default="no limit",
            group=_LIMIT,
        ),
    ]
    budget_memory: Annotated[
        int | str | None,
        size(
            "500MB, 4GiB, ...: of each process of learners from files.",
            default="4GiB",
            group=_LIMIT,
        ),
    ]


_EXAMPLES = whole("Examples to draw.", group=_LIMIT)
_SECONDS = number(
    "Seconds, looked at between draws and queries; held for learners from files.",
    above=0,
    group=_LIMIT,
)


class Limits(_Limits, total=False):
    """What learners may spend: 60 seconds where nothing is said, and all else without limit."""

    budget_examples: Annotated[int | None, _EXAMPLES(default="no limit")]
    budget_seconds: Annotated[float | None, _SECONDS(default="60")]


class RungLimits(_Limits, total=False):
    """What learners may spend in place of what a rung says."""

    budget_examples: Annotated[int | None, _EXAMPLES(default="that of the rung")]
    budget_seconds: Annotated[float | None, _SECONDS(default="that of the rung")]


def budget_of(limits: Any, seconds: float | None = 60.0) -> "Budget":
    """Make the budget of what is said of Limits; seconds: where none are said."""
    from hardness.oracles import Budget

    called = {"cpu": "cpu_seconds", "memory": "memory_bytes"}
    said = {n.removeprefix("budget_"): v for n, v in limits.items() if n.startswith("budget_")}
    return Budget(**{"seconds": seconds, **{called.get(n, n): v for n, v in said.items()}})


_TAUGHT = "A layer of yours"


class Teacher(TypedDict, total=False):
    """A layer that labels drawn tokens, in place of a SPEC."""

    teacher: Annotated[
        "str | PathLike[str] | AttentionLayer | None",
        thing(
            "A file of a layer that labels drawn tokens, in place of a SPEC: .npz, .safetensors.",
            default="none",
            group=_TAUGHT,
        ),
    ]
    tokens: Annotated[
        Literal["boolean", "gaussian"],
        choice("Law of the tokens.", "boolean", "gaussian", default="gaussian", group=_TAUGHT),
    ]
    k: Annotated[int | None, whole("Number of tokens: of an example.", default="2", group=_TAUGHT)]
    noise: Annotated[
        "int | float | str | Fraction",
        rational("Standard deviation of the label noise.", default="0", group=_TAUGHT),
    ]


class LearnOptions(Limits, Teacher, total=False):
    """Both."""

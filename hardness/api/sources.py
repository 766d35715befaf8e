"""Read the source of a function: a SPEC, a folder, a file, or a user's functions or data."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.arguments import located, text_argument
from instances.errors import UsageError

_SAMPLE_SUFFIXES = (".csv", ".npy", ".npz", ".safetensors", ".txt")

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hardness.learners import Learner
    from hardness.runs.own import Split
    from instances import Family, Folder
    from instances.samples import Samples

    Source = str | PathLike[str] | Family | Any  # an object of a class of functions, or the class
    Learners = str | Learner | Iterable[str | Learner]
    Data = tuple[ArrayLike, ArrayLike]  # tokens and labels, (n, k, d)


@dataclass(frozen=True)
class Arrays:
    """Samples in two files, one for A and one for b."""

    a: Path
    b: Path

    def __str__(self) -> str:
        return f"{self.a} and {self.b}"


def paired(source: Any, a: Any, b: Any) -> Any:
    """Return SOURCE, or the files --a and --b instead; raises UsageError for any other choice."""
    if a is None and b is None:
        return source
    if source is not None or a is None or b is None:
        raise UsageError("--a and --b go together, in place of SOURCE")
    return Arrays(Path(located("a", a)), Path(located("b", b)))


def target(source: "Source", spec: str | None = None) -> "tuple[Any, Folder | None]":
    """Resolve a SPEC, folder or file of samples to a family, and a folder or None.

    A path that exists comes before a SPEC. Samples in a file become examples in memory. spec: of
    samples whose file does not state it.
    """
    from instances.files import read_folder
    from instances.spec import parse

    if spec is not None:
        text_argument("spec", spec)
    if isinstance(source, Arrays):
        return _examples_of_file(source, spec)
    if source is None:
        raise UsageError("SOURCE is missing: a SPEC, a folder or a file is needed, or --a and --b")
    if hasattr(source, "spec") and hasattr(source, "instance"):
        return source, None
    text = functions(source)
    if not (text or isinstance(source, str | PathLike)):
        raise UsageError(
            "SOURCE must be a SPEC, a Family or a folder of `hardness generate`, got "
            f"{type(source).__name__}; functions of yours are named as 'path.py:Name'"
        )
    if path := file_of(text):
        return _examples_of_file(path, spec)
    if Path(text).suffix in _SAMPLE_SUFFIXES and not exists(text):
        raise UsageError(f"no such file: {text[:80]}")
    if spec:
        raise UsageError(f"--spec is for a file of samples, not for {text[:80]}")
    if not exists(text):
        try:
            return parse(text), None
        except UsageError as error:
            from hardness.runs.registry import LEARNERS
            from instances.spec import family_names

            name = text.partition(":")[0]
            # `linear` is a learner and a family.
            if name in LEARNERS and name not in family_names():
                raise UsageError(
                    f"{text[:80]} is a learner: a SPEC or a folder belongs there"
                ) from error
            if os.sep in text and ":" not in text:
                raise UsageError(f"no such file or folder: {text[:80]}") from error
            raise
    folder = read_folder(Path(text))
    return folder.family, folder


def own_data(source: object, seed: int) -> "Split | None":
    """Read a user's data and split it; None for a source of another kind. Raises UsageError."""
    from instances.spec import DATA_SUFFIXES

    if isinstance(source, tuple | list):
        from hardness.runs.own import split

        if len(source) != 2:
            raise UsageError(f"data must be a pair (x, y) of arrays, got {type(source).__name__}")
        x, y = source
        return split(x, y, seed)
    if not isinstance(source, str | PathLike) or (path := Path(source)).suffix not in DATA_SUFFIXES:
        return None
    if not path.is_file():
        raise UsageError(f"no such file: {source}")
    from hardness.runs.own import read_data

    return read_data(path, seed)


def require_unseen(learner: "Learner", *files: object) -> None:
    """Raise ToolkitError if a learner from a file could read one of the files that judge it.

    It may read its own folder and all below it.
    """
    for file in files:
        if isinstance(file, str | PathLike) and (code := getattr(learner, "file", None)):
            from hardness.learners.boundary import require_out_of_reach

            require_out_of_reach(code, Path(file), "what it is judged by", "the other file")


def exists(text: str) -> bool:
    """Whether a text is the path of a file or folder."""
    with suppress(OSError, ValueError):  # it is too long, or has a character that paths cannot have
        return bool(text.strip()) and Path(text).exists()
    return False


def file_of(source: "Source") -> Path | None:
    """Return the path if the source is an existing file of samples, else None."""
    if not isinstance(source, str | PathLike) or not exists(str(source)):
        return None
    path = Path(source)
    return path if path.suffix != ".json" and path.is_file() else None


def read_file(path: Path | Arrays, spec: str | None) -> "Samples":
    """Read samples from one or two files; spec: their family, if the file does not state it."""
    from instances.samples import read_samples
    from instances.spec import parse

    stated = parse(spec) if spec else None
    family = (stated.linear_forms or stated.refuse("linear_forms")) if stated else None
    if isinstance(path, Arrays):
        return read_samples(path.a, family, path.b)
    return read_samples(path, family)


def _examples_of_file(path: Path | Arrays, spec: str | None) -> "tuple[Any, Folder]":
    """Read a file of samples as a family and a folder of examples in memory."""
    from instances.files import MemoryFolder
    from instances.samples import to_attention

    samples = read_file(path, spec)
    examples = to_attention(samples, 0)
    return samples.family, MemoryFolder.of_examples(Path(str(path)), examples, notes=samples.notes)


def family(source: "Source") -> "Family":
    """Return the family that a SPEC names, or that a folder of `hardness generate` is of.

    Parameters
    ----------
    source : str, Family or path
        A SPEC or a folder.

    Returns
    -------
    Family
        What is learned, and of which tokens.

    Raises
    ------
    UsageError
        For an unknown name, or a parameter out of range.
    DamagedFile
        For a folder that is damaged.

    Examples
    --------
    >>> family("parity:m=3,d=16").spec
    'parity:d=16,m=3,noise=0,rho=3'
    """
    named: Family = target(source)[0]
    return named


def learner(source: object, *, key: str | None = None) -> "Learner":
    """Return the learner that a string names, or make one of your own object.

    An object runs in this process or its workers.

    Parameters
    ----------
    source : str or object
        A name, "path.py:Name", or a function, a scikit-learn estimator, a torch module or an
        object with a method `learn`.
    key : str, optional
        Runs of an object are kept in files, and found there again, only under a key. Give another
        when you change the object.

    Returns
    -------
    Learner
        What `learn`, `compare` and the others take.

    Raises
    ------
    UsageError
        For an unknown name, or an object of another kind.

    Examples
    --------
    >>> learner("lowdegree:degree=3").name
    'lowdegree'
    """
    from dataclasses import replace

    from hardness.runs.registry import LEARNERS, parse_learner

    if isinstance(source, str):
        return parse_learner(source)
    from hardness.learners.plugins import adapt
    from hardness.learners.remote import SubprocessLearner  # not needed for names

    name = str(getattr(source, "name", ""))
    if isinstance(source, SubprocessLearner) or type(source) is LEARNERS.get(name):
        return source  # type: ignore[return-value]
    key = key or getattr(source, "cache_key", None)
    adapted: Any = adapt(source, "the object given")
    if adapted.name.partition(":")[0] in LEARNERS:
        name = f"object {adapted.name}"
        adapted = replace(adapted, name=name, spec=name)
    if key:
        object.__setattr__(adapted, "cache_key", str(key))
    result: Learner = adapted
    return result


def text_of(source: object) -> str:
    """Return a source that is text or a path as text; empty for an object."""
    return str(source) if isinstance(source, str | PathLike) else ""


def functions(source: object) -> str:
    """Return the text that may name functions, also for a class of functions or its object.

    It is empty for other sources.
    """
    from instances.spec import spec_of_object

    if isinstance(source, str | PathLike):
        return str(source)
    return "" if hasattr(source, "instance") else spec_of_object(source) or ""


def names(learners: "Learners") -> tuple[str, ...]:
    """Return the names of learners, and register those that are objects.

    This process and its workers find an object by its name. Raises UsageError for two objects of
    one name.
    """
    from hardness.runs.registry import OBJECTS

    all_names = tuple(map(_name_of, several(learners)))
    repeated = (name for name in all_names if name in OBJECTS and all_names.count(name) > 1)
    if twice := next(repeated, None):
        raise UsageError(f"two learners are called {twice}: name one of them differently")
    return all_names


def several(values: "Learners") -> tuple[Any, ...]:
    """Return one or several learners as a tuple."""
    single = isinstance(values, str) or callable(values) or not isinstance(values, Iterable)
    return (values,) if single else tuple(values)  # type: ignore[arg-type]


def _name_of(value: Any) -> str:
    from hardness.learners import learner_spec
    from hardness.runs.registry import KEYS, OBJECTS, parse_learner
    from instances.errors import ToolkitError

    if isinstance(value, str):
        return value
    with suppress(ToolkitError, AttributeError):
        name = learner_spec(value)
        if parse_learner(name) == value:
            return name
    adapted = learner(value)
    name = learner_spec(adapted)
    OBJECTS[name] = adapted
    KEYS.pop(name, None)
    if key := getattr(adapted, "cache_key", None):
        KEYS[name] = key
    return name


def spec_of(source: "Source", command: str) -> str:
    """Return the SPEC of a source, from which other processes can make its family.

    command: the command that needs it, for messages.
    """
    from instances.spec import require_spec, spec_of_object

    if isinstance(source, str | PathLike):
        return str(source)
    if spec := spec_of_object(source):
        return spec
    named = family(source)
    require_spec(named, f"{command} gives it to other processes")
    return named.spec


def specs_of(sources: "Iterable[Source]", command: str) -> list[str]:
    """Return the SPECs of several sources; raises UsageError for two classes of one name."""
    from instances.spec import kind_of
    from instances.spec import spec_of as read

    specs, kinds = [], dict[str, Any]()
    for source in sources:
        specs.append(read(spec_of(source, command)))
        name = specs[-1].partition(":")[0]
        if kinds.setdefault(name, kind_of(name)) is not kind_of(name):
            raise UsageError(f"two classes have the name {name}: name one differently")
    return specs

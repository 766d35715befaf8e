"""What functions are about: a SPEC, a folder, a file, functions or data of a user's own."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.arguments import located, text_argument
from instances.errors import UsageError

_OF_SAMPLES = (".csv", ".npy", ".npz", ".safetensors", ".txt")

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
    """Samples of a user, A and b in a file each."""

    a: Path
    b: Path

    def __str__(self) -> str:
        return f"{self.a} and {self.b}"


def paired(source: Any, a: Any, b: Any) -> Any:
    """Return SOURCE, or the files --a and --b in its place; raises UsageError for both or half."""
    if a is None and b is None:
        return source
    if source is not None or a is None or b is None:
        raise UsageError("--a and --b go together, in place of SOURCE")
    return Arrays(Path(located("a", a)), Path(located("b", b)))


def target(source: "Source", spec: str | None = None) -> "tuple[Any, Folder | None]":
    """Resolve SPEC|DIR|FILE to (family, folder or None): what exists on disk comes first.

    FILE: samples, which become examples in memory. spec: the spec of those that do not state it.
    """
    from instances.files import read_folder
    from instances.spec import parse

    if spec is not None:
        text_argument("spec", spec)
    if isinstance(source, Arrays):
        return _held(source, spec)
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
        return _held(path, spec)
    if Path(text).suffix in _OF_SAMPLES and not exists(text):
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
            if name in LEARNERS and name not in family_names():  # `linear` is both
                raise UsageError(
                    f"{text[:80]} is a learner: a SPEC or a folder belongs there"
                ) from error
            if os.sep in text and ":" not in text:
                raise UsageError(f"no such file or folder: {text[:80]}") from error
            raise
    folder = read_folder(Path(text))
    return folder.family, folder


def own_data(source: object, seed: int) -> "Split | None":
    """Read data of a user and split it; None for a source of another kind, raises UsageError."""
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
    """Refuse a learner's file in whose folder, or below it, lies what judges it; ToolkitError."""
    for file in files:
        if isinstance(file, str | PathLike) and (own := getattr(learner, "file", None)):
            from hardness.learners.boundary import require_out_of_reach

            require_out_of_reach(own, Path(file), "what it is judged by", "the other file")


def exists(text: str) -> bool:
    """Whether a text is the path of something."""
    with suppress(OSError, ValueError):  # too long, or a character that no path may have
        return bool(text.strip()) and Path(text).exists()
    return False


def file_of(source: "Source") -> Path | None:
    """Return the path of a file of samples, where that is what is given."""
    if not isinstance(source, str | PathLike) or not exists(str(source)):
        return None
    path = Path(source)
    return path if path.suffix != ".json" and path.is_file() else None


def read_file(path: Path | Arrays, spec: str | None) -> "Samples":
    """Read samples from a file, or from two, of the spec that it states or of one given."""
    from instances.samples import read_samples
    from instances.spec import parse

    stated = parse(spec) if spec else None
    family = (stated.linear_forms or stated.refuse("linear_forms")) if stated else None
    if isinstance(path, Arrays):
        return read_samples(path.a, family, path.b)
    return read_samples(path, family)


def _held(path: Path | Arrays, spec: str | None) -> "tuple[Any, Folder]":
    """Make examples in memory of a file of samples."""
    from instances.files import MemoryFolder
    from instances.samples import to_attention

    found = read_file(path, spec)
    return found.family, MemoryFolder.of_examples(
        Path(str(path)), to_attention(found, 0), notes=found.notes
    )


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
    found: Family = target(source)[0]
    return found


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
    from hardness.learners.remote import SubprocessLearner  # which names in text need not

    name = str(getattr(source, "name", ""))
    if isinstance(source, SubprocessLearner) or type(source) is LEARNERS.get(name):
        return source  # type: ignore[return-value]
    key = key or getattr(source, "cache_key", None)
    made: Any = adapt(source, "the object given")
    if made.name.partition(":")[0] in LEARNERS:
        own = f"object {made.name}"
        made = replace(made, name=own, spec=own)
    if key:
        object.__setattr__(made, "cache_key", str(key))
    found: Learner = made
    return found


def text_of(source: object) -> str:
    """Return what was given as text or a path; empty for an object."""
    return str(source) if isinstance(source, str | PathLike) else ""


def functions(source: object) -> str:
    """Return the text that may name functions: as given, or of a class of functions or one of it.

    Empty for anything else.
    """
    from instances.spec import spec_of_object

    if isinstance(source, str | PathLike):
        return str(source)
    return "" if hasattr(source, "instance") else spec_of_object(source) or ""


def names(learners: "Learners") -> tuple[str, ...]:
    """Name learners as all processes of a command know them; raises UsageError for two of one name.

    An object has its own name, by which this process and its workers know it.
    """
    from hardness.runs.registry import OBJECTS

    each = tuple(map(_name_of, several(learners)))
    if twice := next((name for name in each if name in OBJECTS and each.count(name) > 1), None):
        raise UsageError(f"two learners are called {twice}: name one of them differently")
    return each


def several(values: "Learners") -> tuple[Any, ...]:
    """List what is given, a learner or several."""
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
    made = learner(value)
    name = learner_spec(made)
    OBJECTS[name] = made
    KEYS.pop(name, None)
    if key := getattr(made, "cache_key", None):
        KEYS[name] = key
    return name


def spec_of(source: "Source", command: str) -> str:
    """Return a SPEC as it is, or that of a Family, by which other processes know it."""
    from instances.spec import require_spec, spec_of_object

    if isinstance(source, str | PathLike):
        return str(source)
    if spec := spec_of_object(source):
        return spec
    found = family(source)
    require_spec(found, f"{command} gives it to other processes")
    return found.spec


def specs_of(sources: "Iterable[Source]", command: str) -> list[str]:
    """Return the SPECs of several; raises UsageError for two classes that have one name."""
    from instances.spec import kind_of
    from instances.spec import spec_of as read

    specs, kinds = [], dict[str, Any]()
    for one in sources:
        specs.append(read(spec_of(one, command)))
        name = specs[-1].partition(":")[0]
        if kinds.setdefault(name, kind_of(name)) is not kind_of(name):
            raise UsageError(f"two classes have the name {name}: name one differently")
    return specs

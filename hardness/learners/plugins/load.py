"""Loading a user's object and adapting it to a learner: the user's code is executed here.

Only names that the user gave are loaded, and runs load them only in a separate process.
"""

import functools
import inspect
import keyword
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, cast, get_args

import numpy as np

from hardness.learners.learner import Access, Failed, Hypothesis, Learner, Outcome
from hardness.learners.plugins.estimator import Estimator, fits
from hardness.learners.plugins.module import Module, is_module
from hardness.learners.plugins.views import (
    Function,
    batched,
    described,
    first_line,
    needs,
    takes_examples,
)
from instances.errors import UsageError, require
from instances.family import Family
from instances.parameters import arguments, is_readable, keyword_arguments
from instances.userfile import execute, guarded, named, split

ALLOWED = (
    "a class or object with learn(self, oracle, rng); a function learn(x, y) or learn(x, y, rng); "
    "an object with fit and predict; a torch module; or what gives one of these when called "
    "without arguments"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Adapted:
    """A user's object as a learner, with its spec; digest: the SHA-256 of its file, or None."""

    inner: Any = field(repr=False)
    name: str
    revision: int
    access: Access
    about: str
    spec: str
    digest: str | None = None

    def supports(self, family: Family) -> str | None:
        """Call the object's `supports`, if it has one; raises UsageError for a bad answer."""
        ask = getattr(self.inner, "supports", None)
        found = ask(family) if ask else None
        if found is not None and not isinstance(found, str):
            what = described(found)
            raise UsageError(f"{self.name}: supports gave {what}: None is needed, or a reason")
        return found

    def warm_up(self, family: Family) -> None:
        """Call the object's `warm_up`, if it has one, which imports or compiles."""
        if warm := getattr(self.inner, "warm_up", None):
            warm(family)

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Let the object learn; raises Failed if it does not return a hypothesis.

        Libraries use one thread, so that results do not depend on the number of cores. Seconds are
        counted after imports. Both are the same in the separate processes of files.
        """
        if self.digest is not None:  # in such a process
            return self._checked_hypothesis(self.inner.learn(oracle, rng))
        from threadpoolctl import ThreadpoolController

        self.warm_up(oracle.family)
        oracle.meter.restart()
        alone = ThreadpoolController().wrap(limits=1)
        made = self._checked_hypothesis(alone(self.inner.learn)(oracle, rng))
        return replace(made, predict=alone(made.predict))

    @staticmethod
    def _checked_hypothesis(result: Any) -> Hypothesis:
        if isinstance(result, Hypothesis):
            return result
        if not callable(result) or isinstance(result, type):
            what = described(result)
            said = f"learn gave {what}: a Hypothesis or a function predict(x) is needed"
            raise Failed(Outcome.INVALID, {"reason": said})
        return Hypothesis(predict=batched(result))


def load(text: str) -> Learner:
    """Load the learner of "path.py:Name:key=value,...": its file is executed; raises UsageError."""
    name = split(text)
    if name is None:
        raise UsageError(f"a learner of a file must be path.py:Name, got '{text}'")
    module, digest = execute(name.path)
    value = named(module, name.name, name.where)
    adapted = cast(Adapted, adapt(_with_parameters(value, name.parameters, name.where), name.where))
    return cast(Learner, replace(adapted, spec=text.strip(), digest=digest))


def _with_parameters(value: Any, text: str, where: str) -> Any:
    """Pass parameters to a class, a factory or a function; return other objects unchanged."""
    if isinstance(value, Function) and text:
        return replace(value, wrapped=_with_parameters(value.wrapped, text, where))
    if inspect.isclass(value) and is_readable(value):
        example = f"{where.replace(': ', ':')}:key=value,..."
        return _call(value, where, **arguments(value, text, where, example))
    if not text:
        return value
    if not inspect.isclass(value) and not inspect.isroutine(value):
        raise UsageError(
            f"{where} is {described(value)}: only a class or a function takes parameters"
        )
    learns = inspect.isroutine(value) and takes_examples(value)
    parameters = keyword_arguments(value, text, where, 2 if learns else 0)
    if learns:
        return functools.update_wrapper(functools.partial(value, **parameters), value)
    return _call(value, where, **parameters)


def adapt(value: Any, where: str) -> Learner:
    """Convert a user's object to a learner; `where` names it in messages; raises UsageError.

    >>> def nothing(x, y):
    ...     return lambda x: 0.0 * x
    >>> adapt(nothing, "mine.py: nothing").access
    'examples'
    """
    if isinstance(value, Adapted):
        return cast(Learner, value)
    found = _adapter_of(value, where)
    if found is None and callable(value):
        found = _adapter_of(_call(value, where), where)
    if found is None:
        raise UsageError(f"{where} is {described(value)}: needed is {ALLOWED}")
    return cast(Learner, _checked_adapter(found, where))


def _call(value: Callable[..., Any], where: str, /, **arguments: Any) -> Any:
    """Call a user's class or function; raises UsageError, with the names of missing arguments."""
    lacking = [name for name in needs(value) if name not in arguments]
    if lacking:
        what = f"{where}, {described(value)}, needs {', '.join(lacking)}"
        raise UsageError(f"{what}: give defaults, or write path.py:Name:key=value")
    with guarded(f"{where}, called with {', '.join(arguments) or 'no arguments'}"):
        return value(**arguments)


def _adapter_of(value: Any, where: str) -> Any:
    """Return an object with learn(oracle, rng) if `value` can be used without a call, else None."""
    if is_module(value) and (inspect.isclass(value) or not hasattr(value, "learn")):
        lacking = needs(value) if inspect.isclass(value) else []
        if len(lacking) not in (0, 2):
            raise UsageError(
                f"{where}, the class {value.__name__}, needs {', '.join(lacking)}: it must be made "
                "without arguments or of two, the numbers of inputs and outputs"
            )
        return Module(value)
    if inspect.isclass(value):
        return None  # its instance is adapted
    if hasattr(value, "learn"):
        return value
    if fits(value):
        return Estimator(value)
    if callable(value) and takes_examples(value):
        return Function(value)
    return None


def _checked_adapter(value: Any, where: str) -> Adapted:
    """Check an object's attributes, and use defaults for missing ones."""
    learn = value.learn
    require(callable(learn), f"{where}: learn is {described(learn)}, not learn(self, oracle, rng)")
    try:
        inspect.signature(learn).bind(None, None)
    except TypeError as error:
        got = f"got learn{inspect.signature(learn)}"
        raise UsageError(f"{where} must have learn(self, oracle, rng), {got}") from error
    except ValueError:
        pass  # compiled
    if not callable(getattr(value, "supports", len)):
        raise UsageError(f"{where}: supports is not a function: supports(self, family) is needed")
    attributes: dict[str, Any] = {"name": type(value).__name__, "access": "examples", "revision": 1}
    attributes["about"] = first_line(value) or "a learner of your own"
    for what, default in attributes.items():
        if (found := getattr(value, what, None)) is None:
            continue
        if type(found) is not (kind := type(default)):
            raise UsageError(f"{where}: {what} is {described(found)}: {kind.__name__} is needed")
        attributes[what] = found
    if (access := attributes["access"]) not in get_args(Access):
        raise UsageError(f"{where}: access={access!r}: one of {', '.join(get_args(Access))}")
    return Adapted(inner=value, spec=attributes["name"], **attributes)


def template(name: str, file: str = "my_learner.py") -> str:
    """Return a commented file with a learner of this name; raises UsageError for a bad name.

    >>> "def mine(z, s):" in template("mine")
    True
    """
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise UsageError(f"a name must be one in Python, of letters, digits and _, got '{name}'")
    text = files("hardness.learners.plugins").joinpath("template.txt").read_text()
    return text.replace("NAME", name).replace("FILE", file)

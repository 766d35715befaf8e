"""What stands under `over`: axes of parameters, counted before anything is made of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

from hardness.runs.ranges import numbers
from hardness.sweep.node import Node
from hardness.upper import LEARNERS, learner_spec, parse_learner
from hardness.upper.isolated import Foreign
from instances.errors import UsageError, unknown
from instances.family import Family
from instances.parameters import key_values, listed, plain, split_list
from instances.spec import kind_of, parse_stored
from instances.userfile import split

Values = Sequence[Any]  # range or tuple: what `plain` writes


@dataclass(frozen=True, kw_only=True)
class Axes:
    """A name with a range of values for some of its parameters: nothing is made of it yet.

    count: how many names it stands for, repetitions included.
    """

    node: Node
    base: str
    values: Mapping[str, tuple[Node, Values]]

    @property
    def count(self) -> int:
        """The product of the numbers of values."""
        return math.prod(len(values) for _, values in self.values.values())

    def filled(self) -> Iterator[dict[str, str]]:
        """List the values of every parameter together, the last one varying first."""
        for chosen in product(*(values for _, values in self.values.values())):
            yield {k: plain(v) for k, v in zip(self.values, chosen, strict=True)}


def axes(node: Node, base: str, over: Node | None) -> Axes:
    """Read what a name is to be varied over; raises UsageError."""
    table = over.table() if over else {}
    if over and not table:
        raise over.refuse("a parameter with its values, as { d = [8, 12] },")
    values = {key: (one, _values(one)) for key, one in table.items()}
    return Axes(node=node, base=base, values=values)


def _values(node: Node) -> Values:
    """Read the values of one parameter: a range or a list as text, or a list of values."""
    if isinstance(node.value, str):
        text = node.text("a range such as 8..20, 8..20..4 or 8..64..*2, or a list,")
        try:
            found = numbers(text, str(node.path[-1]))
        except UsageError as error:
            raise node.about(error) from error
        if found is not None:
            return found
        if ".." in text:
            raise node.refuse("a range such as 8..20, 8..20..4 or 8..64..*2")
    return tuple(
        value for one in node.items("values", (str, int, Decimal)) for value in _single(one)
    )


def _single(node: Node) -> list[Any]:
    if not isinstance(node.value, str):
        return [node.exact("a number or a text")]
    try:
        return list(split_list(node.text("a value")))
    except UsageError as error:
        raise node.about(error) from error


def families(found: Axes) -> Iterator[Family]:
    """Make the families of a spec over its axes; raises UsageError for the first that is none."""
    given = found.node
    if _is_file(given, found.base):
        raise given.complaint(
            f"'{found.base}' given: no file is executed that a sweep names: give --family "
            "path.py:Name, and here the family's own name"
        )
    try:
        family = None if found.values else parse_stored(found.base)
        name, _, rest = found.base.partition(":")
        if found.values and kind_of(name) is None:
            name, _, rest = parse_stored(found.base).spec.partition(":")
        kind: Any = kind_of(name)
        keys = [f.name for f in listed(kind)] if kind else []
        fixed = key_values(rest, name, keys) if found.values else {}
    except UsageError as error:
        raise given.about(error) from error
    if family:
        yield family
        return
    _require_known(found, name, keys)
    for chosen in found.filled():
        text = ",".join(f"{key}={value}" for key, value in {**fixed, **chosen}.items())
        try:
            yield parse_stored(f"{name}:{text}")
        except UsageError as error:
            raise _blamed(found, error) from error


def learners(found: Axes) -> Iterator[str]:
    """Name the learners of one over its axes, canonically; raises UsageError.

    A file that a learner is named by must be there; nothing of it is executed.
    """
    name = found.base.partition(":")[0]
    fixed: dict[str, str] = {}
    if name in LEARNERS and found.values:
        keys = [f.name for f in listed(LEARNERS[name])]
        _require_known(found, name, keys)
        try:
            fixed = key_values(found.base.partition(":")[2], name, keys)
        except UsageError as error:
            raise found.node.about(error) from error
    for chosen in found.filled():
        text = ",".join(f"{key}={value}" for key, value in {**fixed, **chosen}.items())
        try:
            whole = f"{name}:{text}" if name in LEARNERS else _more(found.base, text)
            learner = parse_learner(whole if text else found.base)
        except UsageError as error:
            raise _blamed(found, error) from error
        if isinstance(learner, Foreign) and learner.file and not learner.file.is_file():
            raise found.node.complaint(
                f"'{found.base}' given: there is no file {learner.file}: name it relative to the "
                "folder that the sweep is started in"
            )
        yield learner_spec(learner)


def _more(base: str, text: str) -> str:
    """Put more parameters behind a learner of one's own."""
    from hardness.upper.plugins.names import plugin

    named = plugin(base)
    return base + ("," if named and named.parameters else ":") + text


def _is_file(node: Node, text: str) -> bool:
    try:
        return split(text) is not None
    except UsageError as error:
        raise node.about(error) from error


def _require_known(found: Axes, name: str, keys: list[str]) -> None:
    for key, (node, _) in found.values.items():
        if key not in keys:
            raise node.about(unknown(f"parameter of {name}", key[:40], keys))


def _blamed(found: Axes, error: UsageError) -> UsageError:
    """Blame the axis that an error names, else the name itself."""
    text = str(error)
    about = [node for key, (node, _) in found.values.items() if f"{key}=" in text]
    return (about[0] if len(about) == 1 else found.node).about(error)

"""What is fixed in a part of a store's runs, and the words by which a part is chosen."""

from collections.abc import Sequence

from instances.errors import UsageError
from instances.parameters import split_list

Fixed = tuple[tuple[str, str], ...]  # names and values, each name once
_SHOWN = 20  # choices in a message
_UNITS = {
    "examples": "{} examples",
    "queries": "{} queries",
    "seconds": "{} s",
    "cpu_seconds": "{} s of CPU",
    "memory_bytes": "{} bytes of memory",
    "oracle": "{} answers",
}


def fixed_words(name: str, value: str) -> str:
    """Write one fixed quantity in words.

    >>> fixed_words("m", "3"), fixed_words("examples", "5000000"), fixed_words("over", "d")
    ('m = 3', '5,000,000 examples', 'over d')
    """
    if name in ("family", "over"):
        return value if name == "family" else f"over {value}"
    if value == "none" and name in _UNITS:
        return f"no limit of {name.replace('_', ' ')}"
    shown = f"{int(value):,}" if value.isdecimal() else value
    return _UNITS[name].format(shown) if name in _UNITS else f"{name} = {value}"


def choices(every: Sequence[Fixed]) -> list[str]:
    """Tell parts from each other: of each the shortest run of what is fixed that no other has.

    >>> choices([(("m", "2"), ("noise", "0")), (("m", "3"), ("noise", "0"))])
    ['m=2', 'm=3']
    """
    found = [dict(fixed) for fixed in every]
    return [_choice(fixed, found) for fixed in every]


def _choice(fixed: Fixed, found: list[dict[str, str]]) -> str:
    same, parts = found, []
    for name, value in fixed:
        kept = [other for other in same if other.get(name) == value]
        if len(kept) < len(same):
            parts.append(f"{name}={value}")
            same = kept
    return ",".join(parts) or "=".join(fixed[0])


def choice_words(fixed: Fixed, choice: str) -> str:
    """Write a choice in words, as "m = 3, noise = 0, 5,000,000 examples"."""
    kept = split_choice(choice)
    return ", ".join(fixed_words(*pair) for pair in fixed if "=".join(pair) in kept)


def choose(
    every: Sequence[Fixed], choice: str | None, source: str, free: Sequence[Sequence[str]] = ()
) -> int:
    """Return the number of the part that a choice as "m=3,noise=0" is about.

    free: names that vary within a part, of which a choice may say anything. Raises UsageError for
    no part and for several.
    """
    named = choices(every)
    found = list(range(len(every)))
    if choice is not None:
        exact = [i for i in found if named[i] == choice.strip()]
        wanted = {_tight(part) for part in split_choice(choice)}
        found = exact or [
            i
            for i, fixed in enumerate(every)
            if all(
                pair in {"=".join(one) for one in fixed}
                or (free and pair.partition("=")[0] in free[i])
                for pair in wanted
            )
        ]
    if len(found) == 1:
        return found[0]
    if not every:
        raise UsageError(f"{source} given: the store holds no runs to draw: run a sweep into it")
    listed = [named[i] for i in found] or named
    shown = "; ".join(f"'{one}'" for one in listed[:_SHOWN])
    more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    said = f"{source} holds {len(found)} slices: give one with --slice"
    if choice is not None:
        count = f"is true of {len(found)} slices" if found else "is true of no slice"
        said = f"--slice '{choice[:100]}' given, which {count} of {source}: give one"
    raise UsageError(f"{said}, of {shown}{more}")


def split_choice(choice: str) -> list[str]:
    """Split "m=3,g=[1,2]" at its commas; one part where its brackets do not match."""
    try:
        return split_list(choice)
    except UsageError:
        return [choice]


def _tight(part: str) -> str:
    name, _, value = part.partition("=")
    return f"{name.strip()}={value.strip()}"

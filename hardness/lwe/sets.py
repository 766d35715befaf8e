"""Read a problem that a user names: a set, words, a line of lattice-estimator, or a SPEC.

Names are read without regard to case, `_` or `-`, and also under other usual names: Kyber512 is
ml-kem-512. Moduli that a library gives as products of primes are written as 2^bits.
"""

import os
import re
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hardness.lwe.parameters import LweParameters, long_integer, parameters_of, parse_parameters
from hardness.lwe.peer import is_estimator_code, parse_estimator_code
from instances.errors import UsageError, unknown
from instances.family import Family, require
from instances.numbers import write
from instances.parameters import split_list
from instances.residues import next_prime
from instances.spec import DATA_SUFFIXES, CatalogEntry, catalog, family_names, parse
from instances.text import cut


@dataclass(frozen=True, kw_only=True)
class NamedSet(CatalogEntry):
    """A named parameter set; level: the bits of security claimed for it, None if none are."""

    level: int | None = None


def _load() -> tuple[dict[str, NamedSet], dict[str, str]]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    levels = tables["levels"]
    sets = {
        name: NamedSet(**vars(entry), level=levels.get(name))
        for name, entry in catalog().items()
        if entry.spec.startswith(("lwe:", "lwr:"))
    }
    return sets | {n: NamedSet(**table) for n, table in tables["sets"].items()}, tables["aliases"]


SETS, _ALIASES = _load()
_OTHER_PROBLEMS = re.compile(r"(?:NTRU|SIS)\.?Parameters|ntruh|falcon|msis", re.I)
_PLAIN = re.compile(r"[^a-z0-9.^]")
_DARMSTADT = re.compile(r"darmstadt([0-9]{2,3})0\.?([0-9]{2,3})")


def _key(name: str) -> str:
    return _PLAIN.sub("", name.lower().removeprefix("schemes."))


_KEYS = {_key(name): name for name in SETS}


def find_set(name: str) -> tuple[str, NamedSet] | None:
    """Return the canonical name of a set, and the set; None if there is no set of this name.

    The Darmstadt challenge has sets for any n and alpha, with n^2 samples and the next prime after
    n^2 as q. [BBGRS16]

    >>> find_set("Kyber512")[0], find_set("HESv2_32768_128_ternary")[1].spec
    ('ml-kem-512', 'lwe:n=32768,q=2^868,sigma=3.19,secret=ternary')
    >>> find_set("darmstadt-80-0.015")[1].spec
    'lwe:n=80,q=6421,alpha=0.015'
    """
    key = _key(name)
    if listed := _ALIASES.get(key) or _KEYS.get(key):
        return listed, SETS[listed]
    grid = _DARMSTADT.fullmatch(key)
    if not grid:
        return None
    n, alpha = int(grid[1]), Fraction(int(grid[2]), 1000 if len(grid[2]) == 3 else 100)
    spec = f"lwe:n={n},q={next_prime(n * n)},alpha={write(alpha)}"
    about = f"Darmstadt LWE challenge, n = {n}, alpha = {write(alpha)}"
    entry = NamedSet(spec=spec, about=about, samples=n * n, source="BBGRS16")
    return f"darmstadt-{n}-{write(alpha)}", entry


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A problem that a user named.

    name: of its set, or the spec. family: None if the parameters are of no family here. level: the
    bits of security claimed for the set.
    """

    spec: str
    name: str
    parameters: LweParameters
    family: Family | None
    level: int | None = None


def resolve_instance(text: str, samples: int | None = None) -> Instance:
    """Read a set's name, words, parameters of lattice-estimator or a SPEC; raises UsageError.

    samples: None for the number in the set or in the words, or else for any number.

    >>> resolve_instance("Kyber512").parameters.samples
    512
    >>> resolve_instance("lwe:n=10,q=97,sigma=1,samples=40").parameters.samples
    40
    """
    named, (spec, count) = find_set(text), spec_and_samples(text)
    count = count if samples is None else samples
    family: Family | None
    try:
        family = parse(spec)
        parameters, spec = parameters_of(family, count), family.spec
    except UsageError:
        if spec.partition(":")[0] in ("lwe", "lwr"):  # more parameters than families take
            parameters, family = parse_parameters(spec, count), None
        elif ":" in spec or spec in family_names():
            raise
        elif os.sep in text or Path(text).suffix in DATA_SUFFIXES:
            raise UsageError(f"no such file or folder: {cut(text, 80)}") from None
        else:
            names = [*SETS, *_ALIASES, *family_names()]
            raise unknown("set or family", spec, names, "`hardness estimate`") from None
    name, level = (named[0], named[1].level) if named else (spec, None)
    return Instance(spec=spec, name=name, parameters=parameters, family=family, level=level)


def spec_and_samples(text: str) -> tuple[str, int | None]:
    """Return the spec of a set or of words, and its number of samples; None if it has none.

    >>> spec_and_samples("lwe:n=10,samples=40,q=97")
    ('lwe:n=10,q=97', 40)
    """
    if named := find_set(text):
        return named[1].spec, named[1].samples
    if ":" not in text and _OTHER_PROBLEMS.search(text):
        raise UsageError(
            f"{cut(text, 60)} is a problem of NTRU or SIS: LWE and LWR alone are estimated here; "
            "lattice-estimator has NTRU.estimate and SIS.estimate"
        )
    if is_estimator_code(text):
        return parse_estimator_code(text)
    name, colon, rest = text.strip().partition(":")
    counted = [part for part in split_list(rest) if part.partition("=")[0].strip() == "samples"]
    if not counted:
        return text.strip(), None
    require(len(counted) == 1, f"samples is given twice in {name[:60]}")
    kept = [part for part in split_list(rest) if part not in counted]
    return f"{name}{colon}{','.join(kept)}", long_integer(counted[0].partition("=")[2], "samples")

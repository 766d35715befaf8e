"""What a user names: a set, the words of a problem or a SPEC; sets of the catalog and others.

Names are read without regard to case, `_` or `-`, and under the names that others use for them:
Kyber512 is ml-kem-512. Moduli that a library gives as products of primes stand as 2^bits.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from hardness.cost import bridge
from hardness.cost.problem import KEYS, Problem, long_integer, problem, read
from instances.catalog import CatalogEntry, catalog
from instances.errors import UsageError, unknown
from instances.family import Family, require
from instances.numbers import write
from instances.parameters import key_values, split_list
from instances.residues import next_prime
from instances.spec import known, parse
from instances.text import cut

_ALIASES = {
    "kyber512": "ml-kem-512",
    "kyber768": "ml-kem-768",
    "kyber1024": "ml-kem-1024",
    "frodo640": "frodokem-640",
    "frodo976": "frodokem-976",
    "frodo1344": "frodokem-1344",
    "dilithium2": "ml-dsa-44",
    "dilithium3": "ml-dsa-65",
    "dilithium5": "ml-dsa-87",
    "tfhe586": "concrete-tfhe-586",
}
_OTHER = re.compile(r"(?:NTRU|SIS)\.?Parameters|ntruh|falcon|msis", re.I)  # of other problems
_STANDARD = {  # n: bits of q at 128, 192, 256 bits of security
    1024: (27, 19, 14),
    2048: (54, 37, 29),
    4096: (109, 75, 58),
    8192: (218, 152, 118),
    16384: (438, 305, 237),
    32768: (881, 611, 476),
}
_GUIDELINES = {1024: 26, 2048: 53, 4096: 106, 8192: 214, 16384: 430, 32768: 868, 65536: 1747}
_HELIB = {80: {1024: 47, 2048: 87, 4096: 167}, 120: {1024: 38, 2048: 70, 4096: 134}}
_SEAL20 = {
    1024: "2^48-1048575",
    2048: "2^94-1048575",
    4096: "2^190-1073741823",
    8192: "2^383-8589934591",
    16384: "2^767-72057594037927935",
}
_SEAL22 = {2048: 60, 4096: 116, 8192: 226, 16384: 435, 32768: 889}
_TFHE = {  # n, sigma as a share of q = 2^32
    "tfhe-16-500": (500, "104367.71"),
    "tfhe-16-1024": (1024, "16.02022801408"),
    "tfhe-20-612": (612, "131072"),
    "tfhe-20-1024": (1024, "64"),
    "tfhe-630": (630, "131072"),
    "tfhe-1024": (1024, "128"),
    "concrete-tfhe-512": (512, "147.033389"),
    "concrete-tfhe-586": (586, "397336"),
}
_CHHS = ((1024, 25), (2048, 38), (2048, 45), (4096, 67), (4096, 82))
_DSA = {44: (4, 4, 5), 65: (6, 5, 9), 87: (8, 7, 5)}  # k, l, 2 eta + 1
_SPARSE = (  # kind of secret, n, q, h
    ("binary", 32, "967", 6),
    ("binary", 128, "3329", 10),
    ("binary", 256, "3329", 8),
    ("binary", 256, "8209", 8),
    ("ternary", 512, "2^12", 11),
    ("ternary", 1024, "2^29", 12),
)


def _listed() -> Iterator[tuple[str, CatalogEntry]]:
    for name, entry in catalog().items():
        if entry.spec.startswith(("lwe:", "lwr:")):
            yield name, entry
    yield from (
        (f"newhope-{n}", _entry(f"lwe:n={n},q=12289,error=cbd,eta=8,secret=cbd,spread=8", n, what))
        for n, what in ((512, "NewHope512 (round 2)"), (1024, "NewHope1024 (round 2)"))
    )
    for level, (k, ell, width) in _DSA.items():
        words = f"error=uniform,width={width},secret=range,spread={width}"
        spec = f"lwe:n={256 * ell},q=8380417,{words}"
        yield f"ml-dsa-{level}", _entry(spec, 256 * k, f"the key of ML-DSA-{level}", "Dilithium21")
    for n, levels in _STANDARD.items():
        for security, bits in zip((128, 192, 256), levels, strict=True):
            about = f"HomomorphicEncryption.org standard of 2018, {security} bits, ternary secret"
            yield f"hes-{n}-{security}-ternary", _ternary(n, f"2^{bits}", about, "ACCD18")
    for kind, words in (("error", "gaussian,spread=3"), ("ternary", "ternary")):
        spec = f"lwe:n=1024,q=2^27,sigma=3,secret={words}"
        about = (
            f"HomomorphicEncryption.org standard of 2018, sigma = 3 as in lattice-estimator, {kind}"
        )
        yield f"hesv11-1024-128-{kind}", _entry(spec, 1024, about, "ACCD18")
    for n, bits in _GUIDELINES.items():
        about = "security guidelines of 2024 for homomorphic encryption, 128 bits, ternary secret"
        yield f"hesv2-{n}-128-ternary", _ternary(n, f"2^{bits}", about, "BCCCD24")
    for n, q in _SEAL20.items():
        yield f"seal20-{n}", _ternary(n, q, "SEAL 2.0", "Albrecht17")
    for n, bits in _SEAL22.items():
        yield f"seal22-{n}", _ternary(n, f"2^{bits}", "SEAL 2.2", "CLP17")
    for security, sizes in _HELIB.items():
        for n, bits in sizes.items():
            spec = f"lwe:n={n},q=2^{bits},sigma=3.2,secret=ternary,h=64"
            about = f"HElib, {security} bits claimed in 2017, a sparse ternary secret"
            yield f"helib{security}-{n}", _entry(spec, None, about, "Albrecht17")
    for n, bits in _CHHS:
        spec = f"lwe:n={n},q=2^{bits},sigma=3.19,secret=ternary,h=64"
        about = "sparse ternary secret of the dual hybrid attack's authors"
        yield f"chhs-{n}-{bits}", _entry(spec, None, about, "CHHS19")
    for name, (n, sigma) in _TFHE.items():
        spec = f"lwe:n={n},q=2^32,sigma={sigma},secret=binary"
        yield name, _entry(spec, None, "TFHE, a binary secret", "CGGI20")
    spec = "lwe:n=500,q=2^32,sigma=131072,secret=binary"
    yield "fhew", _entry(spec, None, "FHEW as lattice-estimator has it", "DM15")
    for kind, n, q, h in _SPARSE:
        spec = f"lwe:n={n},q={q},sigma=3,secret={kind},h={h}"
        samples = {512: 1024, 1024: 2048}.get(n, 4 * n)
        about = f"sizes of the benchmark of attacks that learn, sparse {kind} secret"
        yield f"sparse-{kind}-{n}-{q}-{h}", _entry(spec, samples, about, "WSMCL24")


def _entry(spec: str, samples: int | None, about: str, source: str = "NewHope19") -> CatalogEntry:
    return CatalogEntry(spec=spec, about=about, samples=samples, source=source)


def _ternary(n: int, q: str, about: str, source: str) -> CatalogEntry:
    return _entry(f"lwe:n={n},q={q},sigma=3.19,secret=ternary", None, about, source)


SETS: dict[str, CatalogEntry] = dict(_listed())
_PLAIN = re.compile(r"[^a-z0-9.^]")
_DARMSTADT = re.compile(r"darmstadt([0-9]{2,3})0\.?([0-9]{2,3})")


def _key(name: str) -> str:
    return _PLAIN.sub("", name.lower().removeprefix("schemes."))


_KEYS = {_key(name): name for name in SETS}


def find(name: str) -> tuple[str, CatalogEntry] | None:
    """Return the name under which a set stands here, and the set; None for no set.

    The Darmstadt challenge has any n and alpha: q is the prime after n^2, of n^2 samples. [BBGRS16]

    >>> find("Kyber512")[0], find("HESv2_32768_128_ternary")[1].spec
    ('ml-kem-512', 'lwe:n=32768,q=2^868,sigma=3.19,secret=ternary')
    >>> find("darmstadt-80-0.015")[1].spec
    'lwe:n=80,q=6421,alpha=0.015'
    """
    key = _key(name)
    known = _ALIASES.get(key) or _KEYS.get(key)
    if known:
        return known, SETS[known]
    grid = _DARMSTADT.fullmatch(key)
    if not grid:
        return None
    n, alpha = int(grid[1]), Fraction(int(grid[2]), 1000 if len(grid[2]) == 3 else 100)
    spec = f"lwe:n={n},q={next_prime(n * n)},alpha={write(alpha)}"
    about = f"Darmstadt LWE challenge, n = {n}, alpha = {write(alpha)}"
    return f"darmstadt-{n}-{write(alpha)}", _entry(spec, n * n, about, "BBGRS16")


# ---- problems


@dataclass(frozen=True, kw_only=True)
class Given:
    """A problem, its spec, the name of its set or the spec, and its family; None for none."""

    spec: str
    name: str
    problem: Problem
    family: Family | None


def given(text: str, samples: int | None = None) -> Given:
    """Read a set's name, words, parameters of lattice-estimator or a SPEC; raises UsageError.

    samples: None for those of the set or of the words, or any number.

    >>> given("Kyber512").problem.samples, given("lwe:n=1024,q=2^49,sigma=3.19").family
    (512, None)
    >>> given("lwe:n=10,q=97,sigma=1,samples=40").problem.samples
    40
    """
    named = find(text)
    spec, count = words_of(text)
    count = count if samples is None else samples
    name = named[0] if named else ""
    try:
        family = parse(spec)
    except UsageError:
        if not _beyond(spec):
            if ":" not in spec and spec not in known():
                names = [*SETS, *_ALIASES, *known()]
                raise unknown("set or family", spec, names, "`hardness estimate`") from None
            raise
        return Given(spec=spec, name=name or spec, problem=read(spec, count), family=None)
    found = problem(family, count)
    return Given(spec=family.spec, name=name or family.spec, problem=found, family=family)


def words_of(text: str) -> tuple[str, int | None]:
    """Return the spec of a set or of words, and the samples of the set or that the words give.

    >>> words_of("lwe:n=10,samples=40,q=97")
    ('lwe:n=10,q=97', 40)
    """
    named = find(text)
    if named:
        return named[1].spec, named[1].samples
    if ":" not in text and _OTHER.search(text):
        raise UsageError(
            f"{cut(text, 60)} is a problem of NTRU or SIS: LWE and LWR alone are estimated here; "
            "lattice-estimator has NTRU.estimate and SIS.estimate"
        )
    if bridge.is_code(text):
        return bridge.words(text)
    name, colon, rest = text.strip().partition(":")
    counted = [part for part in split_list(rest) if part.partition("=")[0].strip() == "samples"]
    if not counted:
        return text.strip(), None
    require(len(counted) == 1, f"samples is given twice in {name[:60]}")
    kept = [part for part in split_list(rest) if part not in counted]
    return f"{name}{colon}{','.join(kept)}", long_integer(counted[0].partition("=")[2], "samples")


def _beyond(spec: str) -> bool:
    """Return whether a spec is of lwe or lwr, in words that problems are read of."""
    name, _, rest = spec.strip().partition(":")
    if name not in ("lwe", "lwr"):
        return False
    try:
        key_values(rest, name, list(KEYS))
    except UsageError:
        return False
    return True

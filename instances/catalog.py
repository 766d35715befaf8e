"""Named instances: short names for specs that are worth naming."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from instances.numbers import write
from instances.residues import next_prime


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """A name's spec and what it is for.

    samples: how many samples the published set gives to an attacker; None for any number. source:
    a key in docs/references.md.
    """

    spec: str
    about: str
    samples: int | None = None
    source: str = ""


def darmstadt() -> Iterator[tuple[str, CatalogEntry]]:
    """List the easier part of the Darmstadt grid: q the prime after n^2, n^2 samples. [BBGRS16]

    >>> dict(darmstadt())["darmstadt-40-005"].spec
    'lwe:n=40,q=1601,alpha=0.005'
    """
    for n in (40, 45, 50, 55, 60):
        for thousandths in (5, 10, 15, 20):
            alpha = write(Fraction(thousandths, 1000))
            spec = f"lwe:n={n},q={next_prime(n * n)},alpha={alpha}"
            about = f"Darmstadt LWE challenge, n = {n}, alpha = {alpha}"
            entry = CatalogEntry(spec=spec, about=about, samples=n * n, source="BBGRS16")
            yield f"darmstadt-{n}-{thousandths:03d}", entry


def schemes() -> Iterator[tuple[str, CatalogEntry]]:
    """List keys of round 3, rank * 256 samples, and FrodoKEM, whose ciphertexts have n + 8.

    The module structure is not modelled. A Gaussian stands for FrodoKEM's tables of 16-bit
    probabilities. [Kyber21] [Saber20] [Frodo21]

    >>> dict(schemes())["saber"].spec
    'lwr:n=768,q=8192,p=1024,secret=cbd,spread=4'
    """
    for n, eta in ((512, 3), (768, 2), (1024, 2)):
        spec = f"lwe:n={n},q=3329,error=cbd,eta={eta},secret=cbd,spread={eta}"
        about = f"the key of ML-KEM-{n} (Kyber{n}, round 3) as plain LWE"
        yield f"ml-kem-{n}", CatalogEntry(spec=spec, about=about, samples=n, source="Kyber21")
    for name, n, spread in (("LightSaber", 512, 5), ("Saber", 768, 4), ("FireSaber", 1024, 3)):
        spec = f"lwr:n={n},q=8192,p=1024,secret=cbd,spread={spread}"
        about = f"the key of {name} (round 3) as plain LWR"
        yield name.lower(), CatalogEntry(spec=spec, about=about, samples=n, source="Saber20")
    for n, q, sigma in ((640, 32768, 2.8), (976, 65536, 2.3), (1344, 65536, 1.4)):
        spec = f"lwe:n={n},q={q},sigma={sigma},secret=gaussian,spread={sigma}"
        about = f"FrodoKEM-{n} (round 3), its errors as a discrete Gaussian"
        yield f"frodokem-{n}", CatalogEntry(spec=spec, about=about, samples=n + 8, source="Frodo21")


CATALOG: dict[str, CatalogEntry] = {
    "parity-first": CatalogEntry(
        spec="parity:d=16,m=3",
        about="455 members: small enough that every learner here can be watched",
    ),
    "parity-wide": CatalogEntry(
        spec="parity:d=200,m=7",
        about="2e12 members: out of reach of queries, quick for elimination",
    ),
    "parity-thousand": CatalogEntry(
        spec="parity:d=1000,m=21",
        about="1e43 members: certified exactly",
    ),
    "majority-thousand": CatalogEntry(
        spec="profile:g=majority,d=1001,m=20",
        about="3e41 members that overlap: SQ-DIM 50, SDA at least 577",
    ),
    "parity-tilted": CatalogEntry(
        spec="profile:g=[1.1,-0.9,1.1,-1.1,0.9,-1.1],d=21,m=5",
        about="a parity that leaks: labels of four values, correlational bounds only",
    ),
    "parity-noisy": CatalogEntry(
        spec="parity:d=64,m=5,noise=0.1",
        about="sparse parity with noise: plain elimination fails too",
    ),
    **dict(schemes()),
    "toy-80": CatalogEntry(
        spec="lwe:n=80,q=113,sigma=3,secret=binary,h=6",
        about="a sparse binary secret, sizes of the toy setting of the benchmark of attacks that "
        "learn; independent samples, where the benchmark's come from a ring",
        source="WSMCL24",
    ),
    "toy-128": CatalogEntry(
        spec="lwe:n=128,q=251,sigma=3,secret=binary,h=4",
        about="the largest that the first attack by a transformer reached: sparse binary secret",
        source="WCCL22",
    ),
    "toy-256": CatalogEntry(
        spec="lwe:n=256,q=3329,sigma=3,secret=binary,h=8",
        about="the smallest modulus that the attack VERDE reached: sparse binary secret",
        source="LWACL23",
    ),
    **dict(darmstadt()),
}

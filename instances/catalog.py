"""Named instances: short names for specs that are worth naming."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from instances.parameters import plain
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
            alpha = plain(Fraction(thousandths, 1000))
            yield (
                f"darmstadt-{n}-{thousandths:03d}",
                CatalogEntry(
                    spec=f"lwe:n={n},q={next_prime(n * n)},alpha={alpha}",
                    about=f"Darmstadt LWE challenge, n = {n}, alpha = {alpha}",
                    samples=n * n,
                    source="BBGRS16",
                ),
            )


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
        about="3e41 members that overlap: SQ-DIM 50, SDA in a bracket",
    ),
    "parity-tilted": CatalogEntry(
        spec="profile:g=parity+0.1*majority,d=21,m=5",
        about="a parity that leaks: labels of four values, correlational bounds only",
    ),
    "parity-noisy": CatalogEntry(
        spec="parity:d=64,m=5,noise=0.1",
        about="sparse parity with noise: plain elimination fails too",
    ),
    # Keys of round 3: rank * 256 samples. The module structure is not modelled.
    "ml-kem-512": CatalogEntry(
        spec="lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3",
        about="the key of ML-KEM-512 (Kyber512, round 3) as plain LWE",
        samples=512,
        source="Kyber21",
    ),
    "ml-kem-768": CatalogEntry(
        spec="lwe:n=768,q=3329,error=cbd,eta=2,secret=cbd,spread=2",
        about="the key of ML-KEM-768 (Kyber768, round 3) as plain LWE",
        samples=768,
        source="Kyber21",
    ),
    "ml-kem-1024": CatalogEntry(
        spec="lwe:n=1024,q=3329,error=cbd,eta=2,secret=cbd,spread=2",
        about="the key of ML-KEM-1024 (Kyber1024, round 3) as plain LWE",
        samples=1024,
        source="Kyber21",
    ),
    "lightsaber": CatalogEntry(
        spec="lwr:n=512,q=8192,p=1024,secret=cbd,spread=5",
        about="the key of LightSaber (round 3) as plain LWR",
        samples=512,
        source="Saber20",
    ),
    "saber": CatalogEntry(
        spec="lwr:n=768,q=8192,p=1024,secret=cbd,spread=4",
        about="the key of Saber (round 3) as plain LWR",
        samples=768,
        source="Saber20",
    ),
    "firesaber": CatalogEntry(
        spec="lwr:n=1024,q=8192,p=1024,secret=cbd,spread=3",
        about="the key of FireSaber (round 3) as plain LWR",
        samples=1024,
        source="Saber20",
    ),
    # A ciphertext has n + 8 samples; a Gaussian stands for the tables of 16-bit probabilities.
    "frodokem-640": CatalogEntry(
        spec="lwe:n=640,q=32768,sigma=2.8,secret=gaussian,spread=2.8",
        about="FrodoKEM-640 (round 3), its errors as a discrete Gaussian",
        samples=648,
        source="Frodo21",
    ),
    "frodokem-976": CatalogEntry(
        spec="lwe:n=976,q=65536,sigma=2.3,secret=gaussian,spread=2.3",
        about="FrodoKEM-976 (round 3), its errors as a discrete Gaussian",
        samples=984,
        source="Frodo21",
    ),
    "frodokem-1344": CatalogEntry(
        spec="lwe:n=1344,q=65536,sigma=1.4,secret=gaussian,spread=1.4",
        about="FrodoKEM-1344 (round 3), its errors as a discrete Gaussian",
        samples=1352,
        source="Frodo21",
    ),
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

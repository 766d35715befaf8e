"""Named instances: short names for specs that are worth naming."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A name's spec and what it is for."""

    spec: str
    about: str


CATALOG: dict[str, Entry] = {
    "parity-first": Entry(
        spec="parity:d=16,m=3",
        about="455 members: small enough that every learner here can be watched",
    ),
    "parity-wide": Entry(
        spec="parity:d=200,m=7",
        about="2e12 members: out of reach of queries, a blink for elimination",
    ),
    "parity-thousand": Entry(
        spec="parity:d=1000,m=21",
        about="1e43 members: certified exactly in a blink",
    ),
    "majority-thousand": Entry(
        spec="profile:g=majority,d=1001,m=20",
        about="3e41 members that overlap: SQ-DIM 50, SDA in a bracket",
    ),
    "parity-tilted": Entry(
        spec="profile:g=parity+0.1*majority,d=21,m=5",
        about="a parity that leaks: labels of four values, correlational bounds only",
    ),
    "parity-noisy": Entry(
        spec="parity:d=64,m=5,noise=0.1",
        about="sparse parity with noise: plain elimination fails too",
    ),
}

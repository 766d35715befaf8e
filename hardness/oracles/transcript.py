"""A game against the adversary, query by query: a file that `hardness check` plays again."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from instances.disk import digest
from instances.family import Secret

FORMAT = "hardness-transcript/1"


@dataclass(frozen=True, kw_only=True)
class TranscriptEntry:
    """One query, its answer, how many members it ruled out, and how many were left."""

    query: dict[str, Any]
    answer: float
    ruled_out: int
    alive: int


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A whole game: the queries in order, and the member that was drawn at the end."""

    spec: str
    tau: Fraction
    mode: str
    members: int
    entries: tuple[TranscriptEntry, ...]
    secret: Secret

    def to_dict(self) -> dict[str, Any]:
        """Write the file that `hardness check` plays again; its digest guards against damage."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "spec": self.spec,
            "tau": str(self.tau),
            "mode": self.mode,
            "members": str(self.members),
            "queries": [
                {
                    "query": {k: list(v) if k == "means" else v for k, v in e.query.items()},
                    "answer": e.answer,
                    "ruled_out": e.ruled_out,
                    "alive": str(e.alive),
                }
                for e in self.entries
            ],
            "secret": list(self.secret),
        }
        return {**body, "digest": digest(body)}

    def runs(self) -> list[tuple[int, int, int, int]]:
        """Sum the game up: (first query, last query, ruled out by each, alive after the last)."""
        out: list[tuple[int, int, int, int]] = []
        for i, entry in enumerate(self.entries, 1):
            if out and out[-1][2] == entry.ruled_out:
                out[-1] = (out[-1][0], i, entry.ruled_out, entry.alive)
            else:
                out.append((i, i, entry.ruled_out, entry.alive))
        return out

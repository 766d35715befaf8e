"""What a sweep would do, and what that may take, before anything of it starts."""

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from hardness.compare.jobs import gram_cut
from hardness.compare.store.rows import RunRow
from hardness.compare.sweep.estimate import Line, chosen
from hardness.compare.sweep.parts import (
    CERTIFICATES,
    Part,
    Range,
    climbed,
    lines_of,
    measured_cells,
    part_of,
    probed,
)
from hardness.compare.sweep.probe import Probe
from hardness.compare.sweep.record import Gram, Sweep
from instances.spec import parse_stored

FORMAT = "hardness-plan/1"
_RUN_BYTES, _CERTIFICATE_BYTES = 300, 5000  # in a store, about


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a sweep would do on `jobs` slots; its seconds are those of jobs alone, without retries.

    blocks: parts of each Gram matrix.
    """

    sweep: Sweep
    parts: tuple[Part, ...]
    blocks: tuple[int, ...]
    jobs: int
    probes: int
    probe_seconds: float

    @property
    def certificates(self) -> int:
        """How many certificates there are."""
        return sum(part.runs for part in self.parts if part.learner == CERTIFICATES)

    @property
    def seconds(self) -> Range:
        """Seconds of all jobs but Gram matrices, one after another; each takes one thread."""
        return sum(p.seconds[0] for p in self.parts), sum(p.seconds[1] for p in self.parts)

    @property
    def wall(self) -> Range:
        """Seconds on the slots: at least the work shared evenly, or the longest chain of jobs.

        At most work / slots + (1 - 1 / slots) x that chain, in whatever order jobs start as long
        as no slot stays idle while one could. [Gra66]
        """
        low, high = self.seconds
        chain = [max((part.path[i] for part in self.parts), default=0.0) for i in (0, 1)]
        most = high / self.jobs + (1 - 1 / self.jobs) * chain[1] if high < math.inf else high
        return max(low / self.jobs, chain[0]), most

    @property
    def peak_bytes(self) -> int | None:
        """The largest resident memory of a worker that was seen; None where none was looked at."""
        return max((p.peak_bytes for p in self.parts if p.peak_bytes is not None), default=None)

    @property
    def store_bytes(self) -> int:
        """About how large the store becomes: runs, certificates and halves of Gram matrices."""
        grams = sum(4 * gram.members**2 for gram in self.sweep.grams)
        return _RUN_BYTES * self.sweep.count + _CERTIFICATE_BYTES * self.certificates + grams

    def to_json(self) -> dict[str, Any]:
        """Write the plan; seconds that nothing bounds are null."""
        limits = self.sweep.limits
        return {
            "format": FORMAT,
            "name": self.sweep.name,
            "runs": self.sweep.count,
            "certificates": self.certificates,
            "parts": [
                asdict(p) | {"seconds": _finite(p.seconds), "path": _finite(p.path)}
                for p in self.parts
            ],
            "grams": [
                asdict(gram) | {"blocks": blocks}
                for gram, blocks in zip(self.sweep.grams, self.blocks, strict=True)
            ],
            "left_out": list(_left_out(self.sweep)),
            "limits": asdict(limits),
            "jobs": self.jobs,
            "job_seconds": _finite(self.seconds),
            "wall_seconds": _finite(self.wall),
            "peak_bytes": self.peak_bytes,
            "store_bytes": self.store_bytes,
            "probes": self.probes,
            "probe_seconds": self.probe_seconds,
        }


def _blocks(gram: Gram) -> int:
    """Count the parts that a Gram matrix is cut into."""
    cut = gram_cut(gram.spec, gram.members, gram.samples, gram.confidence, gram.seed)
    return cut.parts


def plan(
    sweep: Sweep,
    store: Iterable[RunRow] | None = None,
    probe: float = 1.0,
    jobs: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    blocks: Callable[[Gram], int] = _blocks,
) -> Plan:
    """Count what a sweep would do, and estimate its cost from a store's runs, probes and budgets.

    probe: seconds that each of at most 20 real runs may take; 0 for none. blocks: counts the parts
    of a Gram matrix. Nothing is written.
    """
    specs = dict.fromkeys(spec for group in sweep.runs for spec, _ in group.pairs)
    known = {spec: parse_stored(spec) for spec in specs}
    names, lines = lines_of(sweep, known, measured_cells(store or ()))
    places = chosen(lines) if probe > 0 else [[] for _ in lines]
    with ThreadPoolExecutor(jobs) as pool:
        probes = list(pool.map(partial(probed, probe, progress), lines, places))
    mine: list[list[tuple[Line, dict[int, Probe]]]] = [[] for _ in names]
    for line, found in zip(lines, probes, strict=True):
        mine[line.part].append((line, found))
    parts = [part_of(*name, found) for name, found in zip(names, mine, strict=True)]
    most = sweep.limits.seconds or math.inf
    parts += [part for climb in sweep.climbs for part in climbed(climb, most)]
    return Plan(
        sweep=sweep,
        parts=tuple(parts),
        blocks=tuple(map(blocks, sweep.grams)),
        jobs=jobs,
        probes=sum(map(len, probes)),
        probe_seconds=probe,
    )


def _left_out(sweep: Sweep) -> Iterator[dict[str, Any]]:
    """What cannot run, learner by learner, with the first of the reasons."""
    for group in sweep.runs:
        learners: dict[str, dict[str, Any]] = {}
        for learner, why, specs in group.left_out:
            one = learners.setdefault(
                learner,
                {"group": group.title, "learner": learner, "specs": 0, "reasons": 0, "why": why},
            )
            one["specs"] += specs
            one["reasons"] += 1
        yield from learners.values()


def _finite(given: Range) -> list[float | None]:
    return [value if value < math.inf else None for value in given]

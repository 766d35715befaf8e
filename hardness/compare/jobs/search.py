"""An exhaustive search in ranges, with the result of the same run in one piece, times apart."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

from hardness.compare.jobs.cut import in_order, settled
from hardness.compare.jobs.job import Job, content_key
from hardness.compare.jobs.runs import RunJob
from hardness.compare.run import judged
from hardness.compare.store.rows import PartRow
from hardness.oracles import ExampleOracle, Meter, Spent
from hardness.oracles.budget import peak_bytes
from hardness.upper import Learner
from hardness.upper.bruteforce import BruteForce, End, Search
from hardness.upper.search import as_linear
from instances.errors import ToolkitError
from instances.family import Family, Instance

WHOLE = 1 << 32  # candidates up to which a search is one run: some minutes at most
_STEPS = 256  # in a part: of 0.004 to 0.09 seconds each, 1 to 25 in all


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The search of a run with its samples, as every part of it makes them again."""

    learner: Learner
    family: Family
    instance: Instance
    meter: Meter
    search: Search


def prepare(run: RunJob) -> Prepared:
    """Draw the samples of a run; raises Spent where there are none, ToolkitError as a run does."""
    learner, family = run.resolve()
    if not isinstance(learner, BruteForce):
        raise ToolkitError(f"{run.learner} given: only bruteforce searches in ranges")
    instance, meter = family.instance(run.seed), Meter(run.budget)
    search = Search.prepare(ExampleOracle(instance, meter), learner.samples)
    return Prepared(learner=learner, family=family, instance=instance, meter=meter, search=search)


@dataclass(frozen=True, kw_only=True)
class SearchPart:
    """All secrets with heads start .. stop-1, tried until one is believed."""

    kind: ClassVar[str] = "search-part"

    run: RunJob
    start: int
    stop: int

    @property
    def key(self) -> str:
        """The content key of the part."""
        return content_key(self.kind, self.to_json())

    @property
    def label(self) -> str:
        """The learner."""
        return self.run.label

    def to_json(self) -> dict[str, Any]:
        """Write the part."""
        return {"run": self.run.to_json(), "start": self.start, "stop": self.stop}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "SearchPart":
        """Read a part."""
        return SearchPart(run=RunJob.from_json(data["run"]), start=data["start"], stop=data["stop"])

    def do(self) -> dict[str, Any]:
        """Search: how many were tried, the best secret, and whether it is believed."""
        prepared = prepare(self.run)
        search = prepared.search
        end = search.run(self.start, self.stop)
        return {
            "tried": end.tried,
            "secret": None if end.best is None else list(end.best[1]),
            "believed": search.believes(end.best),
            "seconds": prepared.meter.seconds,
            "peak_bytes": peak_bytes(),
        }


@dataclass(frozen=True, kw_only=True)
class SearchCut:
    """A run of brute force in parts of `steps` steps each; its parts make the result of `run`."""

    kind: ClassVar[str] = "search"

    run: RunJob
    steps: int = _STEPS

    @property
    def spec(self) -> str:
        """The family."""
        return self.run.spec

    @property
    def label(self) -> str:
        """The learner."""
        return self.run.label

    @property
    def key(self) -> str:
        """The content key of the parts: that of the run is its own."""
        return content_key(self.kind, {"run": self.run.to_json(), "steps": self.steps})

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The heads start .. stop-1 of each part."""
        return tuple(prepare(self.run).search.parts(self.steps))

    @property
    def parts(self) -> int:
        """How many parts there are; those after the first that believes a secret are not needed."""
        return len(self.ranges)

    def part(self, index: int) -> Job:
        """Make a part."""
        start, stop = self.ranges[index]
        return SearchPart(run=self.run, start=start, stop=stop)

    def content(self, result: dict[str, Any]) -> bytes:
        """Keep the result of a part."""
        return json.dumps(result, sort_keys=True).encode()

    def ends(self, content: bytes) -> bool:
        """Say whether a part believes a secret: the run in one piece would have stopped there."""
        return bool(json.loads(content)["believed"])

    def settled(self, results: Mapping[int, dict[str, Any]]) -> bool:
        """Say whether enough parts are there, by their index."""
        return settled(self.parts, {i: bool(r["believed"]) for i, r in results.items()})

    def assemble(self, parts: Iterator[PartRow]) -> dict[str, Any]:
        """Put together what a run in one piece gives: a Run as JSON.

        Its seconds are those of all parts that count, one after the other, each with drawing its
        samples. Raises ToolkitError where a part is missing.
        """
        prepared = prepare(self.run)
        search = prepared.search
        end, seconds, peak = End(), 0.0, 0
        for content in islice(in_order(parts, self.key), self.parts):
            given = json.loads(content)
            secret = given["secret"]
            end = search.add(end, given["tried"], None if secret is None else tuple(secret))
            seconds, peak = seconds + given["seconds"], max(peak, given["peak_bytes"])
            if given["believed"]:
                break
        usage = replace(prepared.meter.usage(), seconds=seconds, peak_bytes=peak)
        hypothesis = search.conclude(prepared.family, end)
        return judged(
            prepared.learner,
            prepared.family,
            self.run.seed,
            hypothesis,
            usage,
            prepared.instance,
            {},
        ).to_json()


def cut_search(run: RunJob, whole: int = WHOLE, steps: int = _STEPS) -> SearchCut | None:
    """Cut a run of brute force; None where it is done in one piece.

    That is: what is no search by brute force from its start, or has at most `whole` candidates,
    or a budget of anything but examples, or draws no samples; and what cannot run here.

    >>> from hardness.compare.jobs.runs import run_job
    >>> from hardness.oracles import Budget
    >>> from hardness.upper import parse_learner
    >>> job = run_job("lpn:n=40,noise=0.1", parse_learner("bruteforce"), 0, Budget())
    >>> cut_search(job).parts
    1025
    """
    if run.learner.partition(":")[0] != BruteForce.name:
        return None
    limits = (run.budget.seconds, run.budget.cpu_seconds, run.budget.memory_bytes)
    if any(limit is not None for limit in limits):
        return None
    try:
        learner, family = run.resolve()
        if not isinstance(learner, BruteForce) or learner.start or learner.supports(family):
            return None
        if as_linear(family).size <= whole:
            return None
        cut = SearchCut(run=run, steps=steps)
        return cut if cut.parts > 1 else None
    except (Spent, ToolkitError):
        return None  # the run itself says why

"""Jobs and the loop that does them: here, on worker processes, or on a cluster.

jobs --batches--> workers --texts of JSON--> cache

A job is known by a hash of all that its result depends on, and one that is in the cache is not done
again. A worker that dies costs its jobs one more try, each alone; then the job is named by its row,
and the others go on. What ended by the machine's doing is done again by the next command.
"""

import hashlib
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, Self, TypeVar
from warnings import warn

import msgspec

from hardness.learners import Failed, Learner, Outcome, learner_spec
from hardness.learners.learner import innermost
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import Budget, clock
from hardness.runs.cache import Cache
from hardness.runs.record import Record
from hardness.runs.registry import KEYS, OBJECTS, fresh_learner, parse_learner
from hardness.runs.run import OracleName, Run, learn_once, machine, run, versions
from hardness.runs.workers import Dask, Died, Local, fault, hindrance, packed
from instances.disk import damage
from instances.errors import ToolkitError, UsageError
from instances.spec import USER_FAMILIES, file_of, parse_stored

AnyRecord = TypeVar("AnyRecord", bound=Record)
Progress = Callable[[int], None]

PACE = 0.2  # seconds between writings: what is done waits no longer
_BATCH, _MOST = 0.5, 256  # seconds that a batch of short jobs takes, and how many these are
_BACKENDS = ("local", "dask")


class Work(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a job does, whose result depends on its fields alone; the learner as it was named."""

    spec: str
    learner: str
    seed: int

    result: ClassVar[type[Record]]  # of which kind its row is

    def do(self) -> Record:
        """Do it; raises ToolkitError where it cannot be done here."""
        raise NotImplementedError

    def lost(self, outcome: Outcome, why: str, seconds: float) -> Record:
        """Make the row of what could not be done."""
        raise NotImplementedError

    @cached_property
    def stamp(self) -> dict[str, Any]:
        """All that its result depends on, as JSON: with revisions, and files of a user's own."""
        family, learner = parse_stored(self.spec), parse_learner(self.learner)
        return {
            **msgspec.to_builtins(self, enc_hook=str),
            "kind": self.result.__name__,
            "spec": family.spec,
            "learner": learner_spec(learner),
            "revisions": [family.revision, learner.revision],
            "files": [file_of(family.name), _origin(learner)],
            "object": KEYS.get(self.learner),
        }

    @cached_property
    def version(self) -> str:
        """Versions of its family and its learner: revisions, files, the key of an object."""
        return json.dumps([self.stamp[name] for name in ("revisions", "files", "object")])

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of its hash; empty for an object that has no key of its own."""
        name = self.spec.partition(":")[0]
        if name in USER_FAMILIES and file_of(name) is None:
            return ""
        if self.learner in OBJECTS and self.learner not in KEYS:
            return ""
        text = json.dumps(_stated(self.stamp), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Job(Work, frozen=True, kw_only=True):
    """A learner on the instance of a seed, within a budget.

    seed: of the instance and of the learner. oracle, tau: how queries are answered.

    >>> job = Job(spec="parity:d=8,m=2", learner="lowdegree", seed=0, budget=Budget(examples=99))
    >>> job.do().outcome.value, len(job.key)
    ('examples spent', 32)
    """

    budget: Budget
    oracle: OracleName = "samples"
    tau: Fraction = Fraction(1, 10)

    result: ClassVar[type[Record]] = Run

    def do(self) -> Run:
        """Run it."""
        instance = parse_stored(self.spec).instance(self.seed)
        learner = fresh_learner(self.learner)
        found = run(learner, instance, self.budget, self.seed, self.oracle, self.tau)
        origin = self.stamp["files"][1]
        if origin and found.details.get("sha256", origin) != origin:
            raise ToolkitError(f"{self.learner} is another here than where it was planned")
        details = found.details
        if self.learner in KEYS:
            details = {**details, "object_key": KEYS[self.learner]}
        return found.updated(key=self.key, details=details, layer=None, model=None)

    def lost(self, outcome: Outcome, why: str, seconds: float) -> Run:
        """Make the run of what could not be done."""
        family, learner = parse_stored(self.spec), parse_learner(self.learner)
        return Run(
            key=self.key,
            spec=family.spec,
            learner=learner_spec(learner),
            seed=self.seed,
            budget=self.budget,
            outcome=outcome,
            examples=0,
            queries=0,
            seconds=seconds,
            memory=0,
            details={"reason": why},
            revisions={"family": family.revision, "learner": learner.revision},
            versions=versions(),
            machine=machine(),
        )

    @cached_property
    def stamp(self) -> dict[str, Any]:
        """All that its result depends on; of a learner that asks no queries not how they are."""
        found = super().stamp
        if parse_learner(self.learner).access not in ("queries", "either"):
            found = {**found, "oracle": None, "tau": None}
        return found


def _stated(value: Any) -> Any:
    """Leave out None, and write 60.0 as 60: what is equal has one key."""
    if isinstance(value, dict):
        return {name: _stated(one) for name, one in value.items() if one is not None}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _origin(learner: Learner) -> str | None:
    """Return the SHA-256 of the file of a user's learner."""
    learner = innermost(learner)
    if not isinstance(learner, SubprocessLearner):
        return None
    try:
        return hashlib.sha256(learner.file.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{learner.spec} cannot be read: {error.strerror}") from error


# What a worker does


def perform(planned: tuple[Work, dict[str, Any]]) -> str:
    """Do a job: its row as the text of its JSON, with what it is planned with."""
    work, stamp = planned
    start = clock.now()
    try:
        if work.stamp != stamp:
            raise ToolkitError(
                f"{work.learner} on {work.spec} is another here than where it was planned: install "
                "the same version everywhere, and leave files as they are"
            )
        warm(work.spec, (work.learner,))
        start = clock.now()
        return text_of(work.do())
    except ToolkitError as error:
        why, outcome = str(error), Outcome.COULD_NOT_RUN
    except MemoryError as error:
        why, outcome = str(error) or "out of memory", Outcome.COULD_NOT_RUN
    return text_of(work.lost(outcome, " ".join(why.split()), clock.now() - start))


def _perform_all(batch: Sequence[tuple[Work, dict[str, Any]]]) -> tuple[list[str], float]:
    """In a worker: do a batch, and say how long a job of it took."""
    start, found = clock.now(), list[str]()
    for one in batch:
        try:
            found.append(perform(one))
        except Exception as error:  # a fault of ours: the row names it, and the others go on
            lost = one[0].lost(Outcome.CRASHED, fault(error), clock.now() - start)
            found.append(text_of(lost))
    return found, (clock.now() - start) / len(batch)


def text_of(record: Record) -> str:
    """Write a row as the text of its JSON."""
    return json.dumps({"kind": type(record).__name__, **record.filed()}, allow_nan=False)


_RUNS = msgspec.json.Decoder(Run)


def record_of(kind: type[AnyRecord], text: str) -> AnyRecord:
    """Read a row of a kind; raises ValueError."""
    if kind is Run and text.startswith('{"kind": "Run"'):
        return _RUNS.decode(text)  # type: ignore[return-value]
    data = msgspec.json.decode(text)
    if not isinstance(data, dict) or data.pop("kind", None) != kind.__name__:
        raise ValueError(f"it is no {kind.__name__}")
    return kind.read(data)


# The loop


@dataclass(kw_only=True)
class Runner:
    """Does jobs, of which those in the cache are done; one loop, whoever does them.

    backend: "local", processes of this machine, or "dask", with the address of its scheduler.
    n_jobs: processes of this machine; 1 is this process itself. reused: how many of all jobs so
    far the cache had.
    """

    cache: Cache | None = None
    backend: str = "local"
    scheduler: str | None = None
    n_jobs: int = 1
    progress: Progress = lambda done: None
    reused: int = 0
    _workers: Local | Dask | None = None

    def __post_init__(self) -> None:
        if self.backend not in _BACKENDS:
            raise UsageError(f"backend {self.backend!r}: one of {', '.join(_BACKENDS)}")
        if (self.backend == "dask") is not bool(self.scheduler):
            raise UsageError(
                "a backend dask and the address of its scheduler go together: --backend dask "
                "--scheduler tcp://HOST:PORT"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def run(self, works: Sequence[Work]) -> list[Any]:
        """Do jobs: their records in the order of the jobs.

        Raises ToolkitError where the cache cannot be written; what was done before is in it.
        """
        rows = dict(self.texts(works))
        with damage(self.cache.path) if self.cache else nullcontext():
            return [record_of(works[i].result, rows[i]) for i in range(len(works))]

    def texts(self, works: Sequence[Work]) -> Iterator[tuple[int, str]]:
        """Do jobs: the index of each with the text of its row, as it is done."""
        left = list[int]()
        held = in_cache(self.cache, works) if self.cache else {}
        for index, work in enumerate(works):
            text = held.get(work.key)
            if text is None:
                left.append(index)
            else:
                self.reused += 1
                self.progress(1)
                yield index, text
        if not left:
            return
        if self.cache and (bare := {works[i].learner for i in left if not works[i].key}):
            names = ", ".join(sorted(bare))
            _warn(
                f"runs of {names} are not kept in {self.cache.path}, for objects may change: "
                "hardness.learner(OBJECT, key=...) says which version one is"
            )
        rows, written = list[tuple[str, str]](), clock.now()
        try:
            for place, text in self._done([works[index] for index in left]):
                index = left[place]
                if self.cache and works[index].key:
                    rows.append((works[index].key, text))
                    if clock.now() - written > PACE:
                        self.cache.add(rows)
                        rows, written = [], clock.now()
                self.progress(1)
                yield index, text
        finally:
            if self.cache and rows:
                self.cache.add(rows)

    def _done(self, works: Sequence[Work]) -> Iterator[tuple[int, str]]:
        many = self.backend == "dask" or self.n_jobs > 1
        if many and len(works) > 1:
            why = hindrance(
                {one.spec for one in works}, dict.fromkeys(one.learner for one in works)
            )
            if not why:
                return self._elsewhere(works)
            _warn(f"{why}; all runs are done one after another in this process")
        return ((place, perform((work, work.stamp))) for place, work in enumerate(works))

    def _elsewhere(self, works: Sequence[Work]) -> Iterator[tuple[int, str]]:
        """Do jobs on workers; batches are as long as jobs of their learners took so far."""
        if self._workers is None:
            local = self.backend == "local"
            many = min(self.n_jobs, len(works))
            self._workers = Local(many) if local else Dask(self.scheduler or "")
        workers, landed = self._workers, SimpleQueue[Any]()
        waiting, alone = deque(range(len(works))), deque[int]()
        flying, took = dict[Any, tuple[list[int], bool]](), dict[str, float]()
        try:
            while waiting or alone or flying:
                while (waiting or alone) and workers.room(len(flying)):
                    single = bool(alone)
                    batch = [alone.popleft()] if alone else _batch(waiting, works, took)
                    given = [(works[place], works[place].stamp) for place in batch]
                    future = workers.submit(packed(_perform_all, given))
                    flying[future] = batch, single
                    future.add_done_callback(landed.put)
                try:
                    future = landed.get(timeout=PACE)
                except Empty:
                    continue
                batch, single = flying.pop(future)
                try:
                    texts, seconds = workers.result(future)
                except Died as died:
                    if not single:
                        alone.extend(batch)
                        continue
                    yield batch[0], text_of(works[batch[0]].lost(Outcome.CRASHED, str(died), 0.0))
                    continue
                for place, text in zip(batch, texts, strict=True):
                    name = works[place].learner
                    took[name] = 0.5 * (took.get(name, seconds) + seconds)
                    yield place, text
        except BaseException:
            self.close()
            raise


def _warn(message: str) -> None:
    """Warn at the line outside of this toolkit that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "hardness":
        frame, level = frame.f_back, level + 1
    warn(message, stacklevel=level)


def _batch(waiting: deque[int], works: Sequence[Work], durations: Mapping[str, float]) -> list[int]:
    """Take jobs that take half a second together, as far as is known; else one."""
    batch, spent = list[int](), 0.0
    while waiting and len(batch) < _MOST:
        seconds = durations.get(works[waiting[0]].learner, _BATCH)
        if batch and spent + seconds > _BATCH:
            break
        batch.append(waiting.popleft())
        spent += seconds
    return batch


def in_cache(cache: Cache, works: Iterable[Work]) -> dict[str, str]:
    """Give the rows of jobs that a cache has by their keys, but for those to be done again."""
    held = cache.lookup(key for work in works if (key := work.key))
    return {key: text for key, text in held.items() if not _again(text)}


def _again(text: str) -> bool:
    """Whether a row in the cache says that the machine ended its run: it is done again."""
    if '"outcome": "crashed"' not in text and '"outcome": "could not run"' not in text:
        return '"lost": "' in text and '"lost": ""' not in text
    return record_of(Run, text).limited_by == "machine"


def run_jobs(
    works: Sequence[Work],
    cache: Cache | None = None,
    backend: str = "local",
    n_jobs: int = 1,
    scheduler: str | None = None,
    progress: Progress = lambda done: None,
) -> list[Any]:
    """Do jobs, of which those in the cache are done: their records, in the order of the jobs.

    The records do not depend on who does them in which order, times and memory apart.

    >>> job = Job(spec="parity:d=8,m=2", learner="trivial", seed=0, budget=Budget())
    >>> [found.outcome.value for found in run_jobs([job])]
    ['learned nothing']
    """
    with Runner(
        cache=cache, backend=backend, scheduler=scheduler, n_jobs=n_jobs, progress=progress
    ) as runner:
        return runner.run(works)


Do = Callable[[Sequence[Work]], list[Any]]


def here(works: Sequence[Work]) -> list[Any]:
    """Do jobs one after the other in this process, and keep nothing."""
    return run_jobs(works)


def require_some(runs: Sequence[Run]) -> None:
    """Refuse runs of which none could be done: raises ToolkitError with the reason of the first."""
    outside = (one.outcome is Outcome.COULD_NOT_RUN and one.limited_by == "machine" for one in runs)
    if runs and all(outside):
        raise ToolkitError(str(runs[0].details.get("reason", "no run could be done")))


# Learners before they run


def require_loaded(names: Iterable[str], spec: str) -> None:
    """Load each learner from a file once; raises UsageError for one that cannot be.

    What cannot be loaded would otherwise count as runs that did not pass.

    >>> require_loaded(["elimination", "docs/examples/nearest.py:neerest"], "parity:d=8,m=1")
    Traceback (most recent call last):
    ...
    instances.errors.UsageError: ... docs/examples/nearest.py:neerest was not loaded...
    """
    for name in dict.fromkeys(names):
        learner = innermost(parse_learner(name))
        if not isinstance(learner, SubprocessLearner):
            continue
        learner.supports(parse_stored(spec))  # its file is there
        try:
            learner.describe()
        except Failed as failed:
            raise not_loaded(name, failed.details) from failed


def not_loaded(name: str, details: Mapping[str, Any]) -> UsageError:
    """Say why a learner could not be loaded, the reason first."""
    why = details.get("reason") or details.get("message") or "its process said nothing"
    return UsageError(f"{why}: {name} was not loaded, and nothing was run")


_warm = set[str]()  # learners that this process has warmed up


def warm(spec: str, learners: tuple[str, ...]) -> None:
    """Load and compile what learners need, so that the first of their times holds none of it.

    Each learns for a second at most on an instance that is not measured. Those from files start a
    process for each run, and need it not.
    """
    for name in learners:
        learner = fresh_learner(name)
        if not isinstance(innermost(learner), SubprocessLearner) and name not in _warm:
            _warm.add(name)
            with suppress(ToolkitError, MemoryError):  # the run that is measured says it
                tried = learn_once(learner, parse_stored(spec).instance(0), Budget(seconds=1.0))
                tried[0].close()

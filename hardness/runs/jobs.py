"""Jobs and the loop that does them: here, on worker processes, or on a cluster.

jobs --batches--> workers --texts of JSON--> cache

The key of a job is a hash of all that its result depends on, and a job whose key is in the cache is
not done again. If a worker dies, each of its jobs is tried once more, alone. A job that fails then
gets a row that says so, and the others go on. Runs that the machine ended are done again by the
next command.
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
from hardness.runs.workers import Dask, Died, Local, describe_fault, hindrance, packed
from instances.disk import damage
from instances.errors import ToolkitError, UsageError
from instances.spec import USER_FAMILIES, file_of, parse_stored

AnyRecord = TypeVar("AnyRecord", bound=Record)
Progress = Callable[[int], None]

WRITE_SECONDS = 0.2  # a finished row waits no longer until it is written to the cache
_BATCH_SECONDS, _BATCH_JOBS = 0.5, 256  # of a batch of short jobs: intended time, largest number
_BACKENDS = ("local", "dask")


class Work(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A piece of work whose result depends on its fields alone: a `Job`, or a `Search` of `least`.

    learner: the name that the user gave.
    """

    spec: str
    learner: str
    seed: int

    result: ClassVar[type[Record]]  # the class of its row

    def do(self) -> Record:
        """Do the work and return its row; raises ToolkitError if it cannot be done here."""
        raise NotImplementedError

    def lost(self, outcome: Outcome, why: str, seconds: float) -> Record:
        """Make the row of work that could not be done, with the reason."""
        raise NotImplementedError

    @cached_property
    def stamp(self) -> dict[str, Any]:
        """All that the result depends on, as JSON: fields, revisions, hashes of user files."""
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
        """The versions of its family and its learner: revisions, file hashes, key of an object."""
        return json.dumps([self.stamp[name] for name in ("revisions", "files", "object")])

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of the hash of its stamp.

        It is empty for a family or learner object without a key, whose runs are not kept.
        """
        name = self.spec.partition(":")[0]
        if name in USER_FAMILIES and file_of(name) is None:
            return ""
        if self.learner in OBJECTS and self.learner not in KEYS:
            return ""
        text = json.dumps(_canonical(self.stamp), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Job(Work, frozen=True, kw_only=True):
    """One run: a learner on the instance of a seed, within a budget.

    seed: of the instance and of the learner. oracle, tau: how statistical queries are answered.

    >>> job = Job(spec="parity:d=8,m=2", learner="lowdegree", seed=0, budget=Budget(examples=99))
    >>> job.do().outcome.value, len(job.key)
    ('examples spent', 32)
    """

    budget: Budget
    oracle: OracleName = "samples"
    tau: Fraction = Fraction(1, 10)

    result: ClassVar[type[Record]] = Run

    def do(self) -> Run:
        """Run the learner."""
        instance = parse_stored(self.spec).instance(self.seed)
        learner = fresh_learner(self.learner)
        result = run(learner, instance, self.budget, self.seed, self.oracle, self.tau)
        origin = self.stamp["files"][1]
        if origin and result.details.get("sha256", origin) != origin:
            raise ToolkitError(f"{self.learner} is another here than where it was planned")
        details = result.details
        if self.learner in KEYS:
            details = {**details, "object_key": KEYS[self.learner]}
        return result.updated(key=self.key, details=details, layer=None, model=None)

    def lost(self, outcome: Outcome, why: str, seconds: float) -> Run:
        """Make the row of a run that could not be done, with the reason."""
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
        """All that the result depends on, without `oracle` and `tau` if no queries are asked."""
        stamp = super().stamp
        if parse_learner(self.learner).access not in ("queries", "either"):
            stamp = {**stamp, "oracle": None, "tau": None}
        return stamp


def _canonical(value: Any) -> Any:
    """Drop None values and write 60.0 as 60, so that equal stamps have equal keys."""
    if isinstance(value, dict):
        return {name: _canonical(part) for name, part in value.items() if part is not None}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _origin(learner: Learner) -> str | None:
    """Return the SHA-256 of the file of a user's learner; None for any other learner."""
    learner = innermost(learner)
    if not isinstance(learner, SubprocessLearner):
        return None
    try:
        return hashlib.sha256(learner.file.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{learner.spec} cannot be read: {error.strerror}") from error


# What a worker does


def perform(planned: tuple[Work, dict[str, Any]]) -> str:
    """Do one piece of work in a worker: return its row as JSON text.

    planned: the work, with its stamp where it was planned. A different stamp here is an error row.
    """
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
    """Do a batch in a worker: return the rows as JSON texts, and the mean seconds of a job."""
    start, rows = clock.now(), list[str]()
    for planned in batch:
        try:
            rows.append(perform(planned))
        except Exception as error:  # a fault of ours: the row names it, and the others go on
            lost = planned[0].lost(Outcome.CRASHED, describe_fault(error), clock.now() - start)
            rows.append(text_of(lost))
    return rows, (clock.now() - start) / len(batch)


def text_of(record: Record) -> str:
    """Write a row as JSON text, with the name of its class as "kind"."""
    return json.dumps({"kind": type(record).__name__, **record.filed()}, allow_nan=False)


_RUNS = msgspec.json.Decoder(Run)


def record_of(kind: type[AnyRecord], text: str) -> AnyRecord:
    """Read a row of a class from its JSON text; raises ValueError."""
    if kind is Run and text.startswith('{"kind": "Run"'):
        return _RUNS.decode(text)  # type: ignore[return-value]
    data = msgspec.json.decode(text)
    if not isinstance(data, dict) or data.pop("kind", None) != kind.__name__:
        raise ValueError(f"it is no {kind.__name__}")
    return kind.read(data)


# The loop


@dataclass(kw_only=True)
class Runner:
    """Does jobs that the cache lacks, in this process or on workers, and adds them to the cache.

    backend: "local" for processes of this machine, or "dask" with the address of its scheduler.
    n_jobs: number of local processes; 1 means this process itself. reused: number of jobs so far
    whose rows were in the cache.
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
        """Do jobs and return their records, in the order of the jobs.

        Raises ToolkitError if the cache cannot be written; it keeps the rows written before.
        """
        rows = dict(self.texts(works))
        with damage(self.cache.path) if self.cache else nullcontext():
            return [record_of(works[i].result, rows[i]) for i in range(len(works))]

    def texts(self, works: Sequence[Work]) -> Iterator[tuple[int, str]]:
        """Do jobs and yield the index of each with the JSON text of its row, when it is done."""
        missing = list[int]()
        cached = in_cache(self.cache, works) if self.cache else {}
        for index, work in enumerate(works):
            text = cached.get(work.key)
            if text is None:
                missing.append(index)
            else:
                self.reused += 1
                self.progress(1)
                yield index, text
        if not missing:
            return
        if self.cache and (keyless := {works[i].learner for i in missing if not works[i].key}):
            names = ", ".join(sorted(keyless))
            _warn(
                f"runs of {names} are not kept in {self.cache.path}, for objects may change: "
                "hardness.learner(OBJECT, key=...) says which version one is"
            )
        rows, written = list[tuple[str, str]](), clock.now()
        try:
            for position, text in self._rows([works[index] for index in missing]):
                index = missing[position]
                if self.cache and works[index].key:
                    rows.append((works[index].key, text))
                    if clock.now() - written > WRITE_SECONDS:
                        self.cache.add(rows)
                        rows, written = [], clock.now()
                self.progress(1)
                yield index, text
        finally:
            if self.cache and rows:
                self.cache.add(rows)

    def _rows(self, works: Sequence[Work]) -> Iterator[tuple[int, str]]:
        """Do jobs without looking into the cache: yield index and JSON text of each row."""
        parallel = self.backend == "dask" or self.n_jobs > 1
        if parallel and len(works) > 1:
            why = hindrance(
                {work.spec for work in works}, dict.fromkeys(work.learner for work in works)
            )
            if not why:
                return self._rows_of_workers(works)
            _warn(f"{why}; all runs are done one after another in this process")
        return ((index, perform((work, work.stamp))) for index, work in enumerate(works))

    def _rows_of_workers(self, works: Sequence[Work]) -> Iterator[tuple[int, str]]:
        """Do jobs on workers, in batches sized by the seconds that their learners took so far.

        The jobs of a worker that died are submitted again, each in a batch of its own.
        """
        if self._workers is None:
            local = self.backend == "local"
            count = min(self.n_jobs, len(works))
            self._workers = Local(count) if local else Dask(self.scheduler or "")
        workers, finished = self._workers, SimpleQueue[Any]()
        waiting, retries = deque(range(len(works))), deque[int]()
        running, durations = dict[Any, tuple[list[int], bool]](), dict[str, float]()
        try:
            while waiting or retries or running:
                while (waiting or retries) and workers.room(len(running)):
                    retry = bool(retries)
                    batch = [retries.popleft()] if retry else _batch(waiting, works, durations)
                    planned = [(works[index], works[index].stamp) for index in batch]
                    future = workers.submit(packed(_perform_all, planned))
                    running[future] = batch, retry
                    future.add_done_callback(finished.put)
                try:
                    future = finished.get(timeout=WRITE_SECONDS)
                except Empty:
                    continue
                batch, retry = running.pop(future)
                try:
                    texts, seconds = workers.result(future)
                except Died as died:
                    if not retry:
                        retries.extend(batch)
                        continue
                    yield batch[0], text_of(works[batch[0]].lost(Outcome.CRASHED, str(died), 0.0))
                    continue
                for index, text in zip(batch, texts, strict=True):
                    name = works[index].learner
                    durations[name] = 0.5 * (durations.get(name, seconds) + seconds)
                    yield index, text
        except BaseException:
            self.close()
            raise


def _warn(message: str) -> None:
    """Warn at the nearest line of the caller's code outside of this toolkit."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "hardness":
        frame, level = frame.f_back, level + 1
    warn(message, stacklevel=level)


def _batch(waiting: deque[int], works: Sequence[Work], durations: Mapping[str, float]) -> list[int]:
    """Take jobs from `waiting` that together take half a second by `durations`, at least one job.

    durations: mean seconds of a job, by learner; a job of a new learner is a batch of its own.
    """
    batch, total = list[int](), 0.0
    while waiting and len(batch) < _BATCH_JOBS:
        seconds = durations.get(works[waiting[0]].learner, _BATCH_SECONDS)
        if batch and total + seconds > _BATCH_SECONDS:
            break
        batch.append(waiting.popleft())
        total += seconds
    return batch


def in_cache(cache: Cache, works: Iterable[Work]) -> dict[str, str]:
    """Return the cached rows of jobs by their keys, without those to be done again."""
    texts = cache.lookup(key for work in works if (key := work.key))
    return {key: text for key, text in texts.items() if not _ended_by_machine(text)}


def _ended_by_machine(text: str) -> bool:
    """Whether a cached row is of a run or search that the machine ended, to be done again."""
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
    """Do the jobs that the cache lacks; return the records of all jobs, in their order.

    Except for times and memory, the records do not depend on the backend or on the order.

    >>> job = Job(spec="parity:d=8,m=2", learner="trivial", seed=0, budget=Budget())
    >>> [run.outcome.value for run in run_jobs([job])]
    ['learned nothing']
    """
    with Runner(
        cache=cache, backend=backend, scheduler=scheduler, n_jobs=n_jobs, progress=progress
    ) as runner:
        return runner.run(works)


# Does jobs and returns their records, in the order of the jobs.
Executor = Callable[[Sequence[Work]], list[Any]]


def in_this_process(works: Sequence[Work]) -> list[Any]:
    """Do jobs one after the other in this process, without a cache."""
    return run_jobs(works)


def require_some(runs: Sequence[Run]) -> None:
    """Raise ToolkitError with the first reason if none of the runs could be done."""
    not_run = (run.outcome is Outcome.COULD_NOT_RUN and run.limited_by == "machine" for run in runs)
    if runs and all(not_run):
        raise ToolkitError(str(runs[0].details.get("reason", "no run could be done")))


# Learners before they run


def require_loaded(names: Iterable[str], spec: str) -> None:
    """Load each learner that is in a file once; raises UsageError if one cannot be loaded.

    Otherwise its runs would count as runs that did not pass.

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
    """Make the error of a learner that could not be loaded, with the reason first."""
    why = details.get("reason") or details.get("message") or "its process said nothing"
    return UsageError(f"{why}: {name} was not loaded, and nothing was run")


_warmed_up = set[str]()  # names of learners that this process has warmed up


def warm(spec: str, learners: tuple[str, ...]) -> None:
    """Load and compile what learners need, so that no measured time includes it.

    Each learns for at most one second on an instance that is not measured. Learners from files are
    left out, since they start a process for each run.
    """
    for name in learners:
        learner = fresh_learner(name)
        if not isinstance(innermost(learner), SubprocessLearner) and name not in _warmed_up:
            _warmed_up.add(name)
            with suppress(ToolkitError, MemoryError):  # the measured run reports it
                instance = parse_stored(spec).instance(0)
                hypothesis, _ = learn_once(learner, instance, Budget(seconds=1.0))
                hypothesis.close()

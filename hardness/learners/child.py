"""The code of a child process: a learner that learns from the parent's oracle."""

import contextlib
import os
import pickle
import random
import resource
import shutil
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from fractions import Fraction
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from types import MethodType
from typing import Any

import msgspec
import numpy as np

from hardness.learners import messages
from hardness.learners.boundary import (
    BATCH_BYTES,
    EXIT_LOST_PARENT,
    SCRATCH,
    descendants,
    die_with_parent,
)
from hardness.learners.learner import SPENT, Failed, Hypothesis, Learner, Outcome
from hardness.learners.messages import DETAILS, Array, Message, Unsupported, from_child, packed
from hardness.oracles.budget import Meter, Spent
from hardness.oracles.query import Character, Correlational, StatisticalQuery
from instances import userfile
from instances.coded import CodedExamples, require_coded
from instances.errors import ToolkitError, UsageError, require
from instances.family import Examples, Family
from instances.spec import parse_stored
from instances.text import with_article

_REPORTED_LIBRARIES = ("sklearn", "torch", "jax", "tensorflow", "xgboost", "lightgbm")


class Channel(Connection):
    """The child's end of the connection; raises EOFError or OSError once the parent is gone."""

    def tell(self, message: Message) -> None:
        """Send a message."""
        self.send_bytes(packed(message))

    def hear(self) -> Any:
        """Wait for a message of the parent."""
        return messages.from_parent(self.recv_bytes())


def main(descriptor: int, limits: dict[str, list[int]]) -> None:
    """Serve the parent's jobs until the parent is gone; never returns."""
    die_with_parent()  # a parent that is already gone is noticed at the first message
    for name, (soft, hard) in limits.items():
        number = getattr(resource, name)
        ceiling = resource.getrlimit(number)[1]
        hard = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        resource.setrlimit(number, (min(soft, hard), hard))
    channel = Channel(descriptor)
    with contextlib.suppress(EOFError, OSError):
        while True:
            job: messages.Job = channel.hear()
            before = scratch_files() if job.file else set[Path]()
            with undoing_changes(job.file and Path(job.file).parent):
                converse(channel, job)
            # The thread of tqdm's bars stays, but does no work of a run. Neither does the process
            # that Python 3.14 starts for their lock.
            threads = [type(thread).__module__ for thread in threading.enumerate()]
            tracker = getattr(resource_tracker, "_resource_tracker", None)
            others = set(descendants(os.getpid())) - {getattr(tracker, "_pid", None)}
            busy = len(threads) - threads.count("tqdm._monitor") > 1 or others
            channel.tell(
                messages.Idle(clean=not busy and (not job.file or remove_new_files(before)))
            )
    os._exit(EXIT_LOST_PARENT)


@contextlib.contextmanager
def undoing_changes(folder: Path | str | None) -> Iterator[None]:
    """Undo the changes of a run to this process, and unload the modules of the user's folder."""
    modules, path, environment = set(sys.modules), list(sys.path), dict(os.environ)
    depth, mask = sys.getrecursionlimit(), os.umask(0o077)
    os.umask(mask)
    with warnings.catch_warnings(), np.errstate(), np.printoptions(), contextlib.chdir("."):
        yield
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None)
        if folder and isinstance(file, str) and Path(file).is_relative_to(folder):
            del sys.modules[name]
    userfile.forget()
    sys.path[:] = path
    os.environ.clear()
    os.environ.update(environment)
    sys.setrecursionlimit(depth)
    os.umask(mask)


def scratch_files() -> set[Path]:
    """List the files in the folders that this process may write to."""
    shared = ("/tmp", "/dev/shm") if os.getcwd() == SCRATCH else ()
    return {path for folder in (os.getcwd(), *shared) for path in Path(folder).iterdir()}


def remove_new_files(before: set[Path]) -> bool:
    """Remove the files that a run wrote; return whether all are gone."""
    try:
        for path in scratch_files() - before:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except OSError:
        return False
    return True


def converse(channel: Channel, job: messages.Job) -> None:
    """Load, learn and predict, until the parent ends the run."""
    stage = "load"
    try:
        learner, family, rng = load_job(job)
        oracle = ProxyOracle(channel, family, job)
        reason = learner.supports(family) if job.file else None
        if job.learns and not reason and hasattr(learner, "warm_up"):
            learner.warm_up(family)
        itself = {"name": str(learner.name)[:200], "about": str(learner.about)[:500]}
        revision = int(learner.revision)
        channel.tell(messages.Ready(access=learner.access, revision=revision, **itself))
        if job.learns:
            oracle.meter.restart()
            if reason:
                raise Unsupported(reason)
            stage = "learn"
            with np.errstate(over="ignore", invalid="ignore"):
                hypothesis = learner.learn(oracle, rng)
            channel.tell(hypothesis_message(hypothesis, family, job, final=True))
            stage = "predict"
        while isinstance(message := channel.hear(), messages.Predict):
            from hardness.learners.plugins.views import checked  # few children need it

            y = checked(hypothesis.predict(message.x), message.x.shape)
            channel.tell(messages.Values(np.asarray(y, np.float64)))
    except BaseException as error:
        channel.tell(error_message(stage, error, job))
        channel.hear()  # the parent ends the run, or the child


def load_job(job: messages.Job) -> tuple[Learner, Family, np.random.Generator]:
    """Load the learner of a job, its family and its generator."""
    # Only the parent's data is unpickled; it may hold a family of the user, whose file this is.
    content: Any = pickle.loads(job.content) if job.content else None
    if not job.file:
        learner, family, rng = content
        return learner, family, rng
    from hardness.learners.plugins import load

    np.random.seed(job.coins[0] % 2**32)
    random.seed(job.coins[1])
    rng = np.random.Generator(np.random.Philox(key=np.array(job.coins, np.uint64)))
    return load(job.name), parse_stored(job.spec) if job.spec else content, rng


def hypothesis_message(
    hypothesis: Hypothesis, family: Family, job: messages.Job, final: bool
) -> messages.Learned | messages.Pickled:
    """Write a hypothesis as a message; raises Failed if a user's learner gave an invalid one."""
    if not job.file:
        return messages.Pickled(final, userfile.pickled(hypothesis, "what it learned"))
    try:
        predict, secret, outcome = hypothesis.predict, hypothesis.secret, hypothesis.outcome
        if not callable(predict):
            raise TypeError(f"predict is {with_article(type(predict).__name__)}")
        baseline = isinstance(predict, MethodType) and predict == family.known
        message = messages.Learned(
            final=final,
            predicts="baseline" if baseline else "messages",
            details=reported(hypothesis.details),
            secret=None if secret is None else [int(j) for j in secret],
            outcome=None if outcome is None else outcome.name,
            layer=hypothesis.layer,
            weights=weights(hypothesis.model),
        )
        if predict is hypothesis.layer:
            message.predicts = "layer"
        from_child(packed(message))  # the check that the parent makes
    except (TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
        raise Failed(Outcome.INVALID, {"reason": f"learn gave no hypothesis: {error}"}) from error
    return message


def weights(model: Any) -> dict[str, Array]:
    """Return the weights of a torch module by name; empty for other objects and large modules.

    >>> weights(None)
    {}
    """
    torch = sys.modules.get("torch")  # without it no object is a module
    if torch is None or not isinstance(model, torch.nn.Module):
        return {}
    arrays = {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}
    return arrays if sum(array.nbytes for array in arrays.values()) <= BATCH_BYTES // 2 else {}


def reported(details: Any) -> bytes:
    """Write the details of a user's learner as JSON, with the versions of loaded libraries.

    Numbers that are not finite become null. Other objects than dictionaries, and details that are
    too long, are dropped.

    >>> reported({"steps": np.int64(3), "loss": float("nan"), "of": (1, 2)})[:33]
    b'{"steps":3,"loss":null,"of":[1,2]'
    """
    details = details if isinstance(details, dict) else {}
    libraries = [
        name for name in _REPORTED_LIBRARIES if name in sys.modules
    ]  # results may depend on them
    versions = {n: str(getattr(sys.modules[n], "__version__", "unknown"))[:40] for n in libraries}
    details = details | {"libraries": versions} if versions else details
    try:
        text = msgspec.json.encode({str(k): v for k, v in details.items()}, enc_hook=_plain)
    except Exception as error:
        text = msgspec.json.encode({"dropped": f"details that are no JSON: {error}"[:200]})
    if len(text) > DETAILS:
        text = msgspec.json.encode({"dropped": f"details of over {DETAILS} characters"})
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist() if value.size <= DETAILS else str(value.shape)
    return str(value)[:1000]


def error_message(
    stage: str, error: BaseException, job: messages.Job
) -> messages.Ended | messages.Pickled:
    """Write an error as a message: its type and text, and the line in the user's code."""
    if isinstance(error, MemoryError) and (job.budget.memory_bytes or job.file):
        return messages.Ended("MEMORY_SPENT", {"stage": stage})
    if not job.file:
        with contextlib.suppress(Exception):
            if not isinstance(error, ToolkitError | Failed | Spent):
                error.add_note("".join(traceback.format_exception(error)))
            content = pickle.dumps(error)
            pickle.loads(content)
            return messages.Pickled(True, content)
    if isinstance(error, Spent):  # the learner did not catch it
        outcome: Any = SPENT.get(error.resource, Outcome.CRASHED).name
        return messages.Ended(outcome, {})
    if isinstance(error, Failed):  # an adapter refused a value of the learner
        return messages.Ended("INVALID", {"reason": str(error.details.get("reason", error))[:2000]})
    if isinstance(error, Unsupported):
        stage = "supports"
    if isinstance(error, ToolkitError) and stage in ("load", "supports"):
        return messages.Ended("COULD_NOT_RUN", {"reason": str(error)[:2000], "stage": stage})
    if isinstance(error, SystemExit):
        code = (error.code if isinstance(error.code, int) else int(error.code is not None)) % 256
        reason = f"it ended its process with exit code {code}"
        return messages.Ended("CRASHED", {"reason": reason, "exit_code": code, "stage": stage})
    frames = traceback.extract_tb(error.__traceback__)
    in_file = [number for number, frame in enumerate(frames) if frame.filename == job.file]
    rest = error.__traceback__
    for _ in range(in_file[0] if in_file else 0):  # skip the frames before the user's code
        rest = rest and rest.tb_next
    with contextlib.suppress(Exception):  # the parent keeps the end of what is printed
        traceback.print_exception(error.with_traceback(rest))
    text, kind, last = "", type(error).__name__[:200], frames[in_file[-1] if in_file else -1]
    with contextlib.suppress(Exception):
        text = " ".join(" ".join([str(error), *getattr(error, "__notes__", ())]).split())[:500]
    line, file = last.lineno or 0, Path(last.filename).name[:200]
    reason = f"{kind} in {stage}, line {line} of {file}: {text}"
    where: dict[Any, Any] = {"stage": stage, "type": kind, "message": text, "line": line}
    return messages.Ended("CRASHED", {"reason": reason, **where, "file": file})


class _OfferingMeter(Meter):
    """The meter of a child; it sends offered hypotheses to the parent."""

    def __init__(self, channel: Channel, family: Family, job: messages.Job) -> None:
        super().__init__(job.budget)
        self._channel, self._family, self._job = channel, family, job

    def offer(self, hypothesis: Hypothesis) -> None:
        """Send a hypothesis to the parent, which keeps the last one."""
        self._channel.tell(hypothesis_message(hypothesis, self._family, self._job, final=False))


class ProxyOracle:
    """The oracle in a child: `draw`, `ask` and `value` forward to the parent, which counts."""

    def __init__(self, channel: Channel, family: Family, job: messages.Job) -> None:
        self.family = family
        self.tau = None if job.tau is None else Fraction(job.tau)
        self.meter = _OfferingMeter(channel, family, job)
        self._channel = channel

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, fewer at the end of the budget; then raises Spent."""
        require(count >= 0, f"{count} examples asked for: at least 0 are allowed")
        parts, drawn, more = list[dict[str, Array]](), 0, True
        while more:
            try:
                answer = self._answer(messages.Draw(min(int(count) - drawn, 1 << 62)))
            except Spent:
                if not drawn:
                    raise
                break
            parts, drawn = [*parts, answer.arrays], drawn + answer.count
            more = drawn < count and not answer.short
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return self.family.restore(arrays, drawn)

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; the child sees no labels."""
        if isinstance(query, Character):
            message = messages.Ask("character", list(map(int, query.subset)))
        elif isinstance(query, Correlational):
            message = messages.Ask("correlational")
        elif not hasattr(query, "values"):
            kind = type(query).__name__
            raise UsageError(f"a query must be one of hardness.oracles, got {kind}")
        else:
            message = messages.Ask("factor" if hasattr(query, "of_factor") else "levels")
            if hasattr(query, "require"):
                query.require(self.family)
        answer, raised = self._answer(message), None
        while isinstance(answer, messages.Evaluate):
            table = np.empty(0)
            try:
                table = np.asarray(_table(query, self.family, answer), np.float64)
            except Exception as error:
                raised = error
            try:
                answer = self._answer(messages.Values(table))
            except UsageError as refused:
                raise (raised or refused) from None
        return answer.value

    def value(self, x: Any) -> Array:
        """Return the labels of all tokens x (n, k, d); raises Spent if the budget is too small."""
        checked = self.family.questions or self.family.refuse("questions")
        tokens = checked(x).astype(np.float64)
        self.meter.require_values(len(tokens))
        labels, each = np.empty(tokens.shape), max(1, BATCH_BYTES // (8 * tokens[:1].size or 1))
        for start in range(0, len(tokens), each):
            part = slice(start, start + each)
            labels[part] = self._answer(messages.Label(tokens[part])).arrays["y"]
        return labels

    def _answer(self, message: Message) -> Any:
        """Send a request and return the answer; raises if the parent refuses."""
        self._channel.tell(message)
        answer, meter = self._channel.hear(), self.meter
        if isinstance(answer, messages.Answer):
            meter.examples, meter.queries, meter.values = answer.used
            if answer.spent:
                raise Spent(answer.spent)
            if answer.reason:
                raise (Unsupported if answer.unsupported else UsageError)(answer.reason)
        return answer


def _table(query: Any, family: Family, message: messages.Evaluate) -> Any:
    """Evaluate a query on tokens: h (n, k, d), or its values at some codes (n, codes)."""
    if "x" in message.arrays:
        return query.h(message.arrays["x"])
    coded, words = require_coded(family), message.arrays["words"]
    opened, columns = coded.open(words), []
    for code in message.codes:
        # Where the label is public its code is 0, and the parent selects column 0.
        codes = np.where(opened, code, 0).astype(coded.code_type)
        columns.append(query.values(CodedExamples(family=coded, words=words, codes=codes)))
    return np.stack(columns, axis=1)

"""What runs in a child process: a learner that learns from the oracle of the parent."""

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
from hardness.learners.boundary import LOST, SCRATCH, SENT, below, die_with_parent
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

_LIBRARIES = ("sklearn", "torch", "jax", "tensorflow", "xgboost", "lightgbm")


class Channel(Connection):
    """The child's end of the connection; raises EOFError or OSError once the parent is gone."""

    def tell(self, message: Message) -> None:
        """Send a message."""
        self.send_bytes(packed(message))

    def hear(self) -> Any:
        """Wait for a message of the parent."""
        return messages.from_parent(self.recv_bytes())


def main(descriptor: int, limits: dict[str, list[int]]) -> None:
    """Do what the parent says until it is gone; never returns."""
    die_with_parent()  # a parent that is gone already is seen at the first message
    for name, (soft, hard) in limits.items():
        number = getattr(resource, name)
        most = resource.getrlimit(number)[1]
        hard = hard if most == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(number, (min(soft, hard), hard))
    channel = Channel(descriptor)
    with contextlib.suppress(EOFError, OSError):
        while True:
            job: messages.Job = channel.hear()
            before = listed() if job.file else set[Path]()
            with afresh(job.file and Path(job.file).parent):
                converse(channel, job)
            # The thread of tqdm's bars stays, and does nothing of a run. Nor does the process that
            # Python 3.14 starts for the lock of the bars.
            threads = [type(thread).__module__ for thread in threading.enumerate()]
            tracker = getattr(resource_tracker, "_resource_tracker", None)
            others = set(below(os.getpid())) - {getattr(tracker, "_pid", None)}
            busy = len(threads) - threads.count("tqdm._monitor") > 1 or others
            channel.tell(messages.Idle(clean=not busy and (not job.file or emptied(before))))
    os._exit(LOST)


@contextlib.contextmanager
def afresh(folder: Path | str | None) -> Iterator[None]:
    """Undo what a run changes in this process, and forget the modules of the user's folder."""
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


def listed() -> set[Path]:
    """List what lies in the folders that are this process's own, to write to."""
    shared = ("/tmp", "/dev/shm") if os.getcwd() == SCRATCH else ()
    return {path for folder in (os.getcwd(), *shared) for path in Path(folder).iterdir()}


def emptied(before: set[Path]) -> bool:
    """Remove what a run wrote to them; returns whether all is gone."""
    try:
        for path in listed() - before:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except OSError:
        return False
    return True


def converse(channel: Channel, job: messages.Job) -> None:
    """Load, learn and predict, until the parent says that the run is over."""
    stage = "load"
    try:
        learner, family, rng = loaded(job)
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
            channel.tell(written(hypothesis, family, job, final=True))
            stage = "predict"
        while isinstance(message := channel.hear(), messages.Predict):
            from hardness.learners.plugins.views import checked  # which few need

            y = checked(hypothesis.predict(message.x), message.x.shape)
            channel.tell(messages.Values(np.asarray(y, np.float64)))
    except BaseException as error:
        channel.tell(last_words(stage, error, job))
        channel.hear()  # that it is over: the parent ends a child that it is done with


def loaded(job: messages.Job) -> tuple[Learner, Family, np.random.Generator]:
    """Load the learner of a job, its family and its coins."""
    # The parent's word alone is unpickled, and a family of the user, who wrote this file too.
    content: Any = pickle.loads(job.content) if job.content else None
    if not job.file:
        learner, family, rng = content
        return learner, family, rng
    from hardness.learners.plugins import load

    np.random.seed(job.coins[0] % 2**32)
    random.seed(job.coins[1])
    rng = np.random.Generator(np.random.Philox(key=np.array(job.coins, np.uint64)))
    return load(job.name), parse_stored(job.spec) if job.spec else content, rng


def written(
    hypothesis: Hypothesis, family: Family, job: messages.Job, final: bool
) -> messages.Learned | messages.Pickled:
    """Write a hypothesis down; raises Failed for one of a user's learner that is not valid."""
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
        from_child(packed(message))  # as the parent
    except (TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
        raise Failed(Outcome.INVALID, {"reason": f"learn gave no hypothesis: {error}"}) from error
    return message


def weights(model: Any) -> dict[str, Array]:
    """Give the weights of a torch module by their names; none of what is no module, or too large.

    >>> weights(None)
    {}
    """
    torch = sys.modules.get("torch")  # where it is not imported, nothing is of it
    if torch is None or not isinstance(model, torch.nn.Module):
        return {}
    arrays = {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}
    return arrays if sum(array.nbytes for array in arrays.values()) <= SENT // 2 else {}


def reported(details: Any) -> bytes:
    """Write what a user's learner reports as JSON, with the versions of what it has loaded.

    Numbers that are not finite become null; what is no dictionary, or too long, is left out.

    >>> reported({"steps": np.int64(3), "loss": float("nan"), "of": (1, 2)})[:33]
    b'{"steps":3,"loss":null,"of":[1,2]'
    """
    details = details if isinstance(details, dict) else {}
    libraries = [name for name in _LIBRARIES if name in sys.modules]  # a result may depend on them
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


def last_words(
    stage: str, error: BaseException, job: messages.Job
) -> messages.Ended | messages.Pickled:
    """Say what was raised, where in the user's code, and what it says."""
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
    if isinstance(error, Failed):  # an adapter found something wrong with what the learner gave
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
    own = [number for number, frame in enumerate(frames) if frame.filename == job.file]
    shown = error.__traceback__
    for _ in range(own[0] if own else 0):  # what stands before the user's code
        shown = shown and shown.tb_next
    with contextlib.suppress(Exception):  # the end of what is printed is kept
        traceback.print_exception(error.with_traceback(shown))
    text, kind, last = "", type(error).__name__[:200], frames[own[-1] if own else -1]
    with contextlib.suppress(Exception):
        text = " ".join(" ".join([str(error), *getattr(error, "__notes__", ())]).split())[:500]
    line, file = last.lineno or 0, Path(last.filename).name[:200]
    reason = f"{kind} in {stage}, line {line} of {file}: {text}"
    where: dict[Any, Any] = {"stage": stage, "type": kind, "message": text, "line": line}
    return messages.Ended("CRASHED", {"reason": reason, **where, "file": file})


class _Offering(Meter):
    """A meter of the child, which hands over what is offered."""

    def __init__(self, channel: Channel, family: Family, job: messages.Job) -> None:
        super().__init__(job.budget)
        self._channel, self._family, self._job = channel, family, job

    def offer(self, hypothesis: Hypothesis) -> None:
        """Send it to the parent, which keeps the last."""
        self._channel.tell(written(hypothesis, self._family, self._job, final=False))


class ProxyOracle:
    """Examples by `draw`, answers by `ask`, labels by `value`, each of the parent, which counts."""

    def __init__(self, channel: Channel, family: Family, job: messages.Job) -> None:
        self.family = family
        self.tau = None if job.tau is None else Fraction(job.tau)
        self.meter = _Offering(channel, family, job)
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
        """Answer one query within tau of its expectation; this process sees no label for it."""
        if isinstance(query, Character):
            message = messages.Ask("character", list(map(int, query.subset)))
        elif isinstance(query, Correlational):
            message = messages.Ask("correlational")
        elif not hasattr(query, "values"):
            what = type(query).__name__
            raise UsageError(f"a query must be one of hardness.oracles, got {what}")
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
        """Return the labels of tokens x (n, k, d): all of them, or none where they do not fit."""
        checked = self.family.questions or self.family.refuse("questions")
        tokens = checked(x).astype(np.float64)
        self.meter.require_values(len(tokens))
        labels, each = np.empty(tokens.shape), max(1, SENT // (8 * tokens[:1].size or 1))
        for start in range(0, len(tokens), each):
            part = slice(start, start + each)
            labels[part] = self._answer(messages.Label(tokens[part])).arrays["y"]
        return labels

    def _answer(self, message: Message) -> Any:
        """Ask the parent; raises what it refuses with."""
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
    """Evaluate a query on tokens: h (n, k, d), or at some codes of labels (n, codes)."""
    if "x" in message.arrays:
        return query.h(message.arrays["x"])
    coded, words = require_coded(family), message.arrays["words"]
    opened, columns = coded.open(words), []
    for code in message.codes:
        # Where the label is known its code is 0, and so is the column that is looked at.
        codes = np.where(opened, code, 0).astype(coded.code_type)
        columns.append(query.values(CodedExamples(family=coded, words=words, codes=codes)))
    return np.stack(columns, axis=1)

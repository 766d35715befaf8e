"""What a process of its own costs a learner: rows of docs/benchmarks.md."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from runpy import run_path

from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.run import Run
from hardness.upper import Learner, parse_learner
from instances import parse

_LEARNER = '''
import time

from hardness.upper.learner import Hypothesis


class Draws:
    """Draws `count` examples in batches of `each`, and says how long it took once it was warm.

    looks: at tokens and labels, as learners do.
    """

    name, revision, access, about = "draws", 1, "examples", "draws examples and learns nothing"

    def __init__(self, count=0, each=1, looks=False):
        self.count, self.each, self.looks = count, each, looks

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        batches = self.count // self.each
        for n in range(batches + 1 if batches else 0):
            if n == 1:
                started = time.perf_counter()
            examples = oracle.draw(self.each)
            if self.looks:
                examples.x, examples.y
        details = {"seconds": time.perf_counter() - started} if batches else {}
        return Hypothesis(predict=oracle.family.known, details=details)
'''


@contextmanager
def _both(**given: int | bool) -> Iterator[tuple[Learner, Learner]]:
    """The same learner: in process, and from its file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "learners.py")
        file.write_text(_LEARNER)
        learner = run_path(str(file))["Draws"](**given)
        learner.spec = "draws"
        told = ",".join(f"{name}={value}".lower() for name, value in given.items())
        yield learner, parse_learner(f"{file}:Draws{':' * bool(told)}{told}")


def _once(learner: Learner, spec: str) -> Run:
    return run(learner, parse(spec).instance(0), Budget())


def overhead(rounds: int = 9) -> str:
    times: list[list[float]] = [[], []]
    with _both() as both:
        for learner, kept in zip(both, times, strict=True):
            _once(learner, "parity:d=20,m=3")
            for _ in range(rounds):
                started = time.perf_counter()
                _once(learner, "parity:d=20,m=3")
                kept.append(time.perf_counter() - started)
    here, there = times
    best, median = (f(there) - f(here) for f in (min, statistics.median))
    return (
        "| a learner from a file, run in a process of its own: on top of its work | "
        f"{best:.2f} s at best, {median:.2f} s in the median of {rounds} | the run takes "
        f"{min(there) / min(here):.0f} times that in process ({min(here) * 1e3:.0f} ms) |"
    )


def _seconds(learner: Learner, spec: str) -> float:
    details = _once(learner, spec).details
    return float(details.get("reported", details)["seconds"])


def examples(spec: str, count: int, each: int, looks: bool = False, rounds: int = 5) -> str:
    with _both(count=count, each=each, looks=looks) as both:
        here, there = (min(_seconds(one, spec) for _ in range(rounds)) for one in both)
    return (
        f"| examples of {spec} through a socket, {each} a time{', looked at' * looks} | "
        f"{there / here:.2f} times the time in process | {there:.3f} s against {here:.3f} s |"
    )


def isolation() -> list[str]:
    return [
        overhead(),
        examples("parity:d=64,m=5", 1 << 21, 1 << 17),
        examples("parity:d=64,m=5", 1 << 18, 1 << 12),
        examples("parity:d=64,m=5", 1 << 16, 1 << 12, looks=True),
        examples("parity:d=1000,m=10", 1 << 16, 1 << 13),
        examples("nice:m=2,k=2,d=16", 1 << 16, 1 << 13),
        examples("lwr:n=32,q=1024,p=32", 1 << 21, 1 << 17),
    ]


if __name__ == "__main__":
    print("\n".join(isolation()))

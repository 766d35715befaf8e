"""What a process of its own costs a learner: rows of docs/benchmarks.md."""

import statistics
import tempfile
import time
from pathlib import Path
from runpy import run_path
from typing import Any

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Learner, parse_learner
from instances import Instance, parse

_LEARNERS = '''
import time

from hardness.upper.learner import Hypothesis


class Trivial:
    name, revision, access, about = "trivial", 1, "examples", "asks for nothing"

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        return Hypothesis(predict=oracle.family.known)


class Draws(Trivial):
    """Draws `count` examples in batches of `each`, and says how long it took once it was warm."""

    count, each = 1 << 21, 1 << 17

    def learn(self, oracle, rng):
        self.take(oracle)
        started = time.perf_counter()
        for _ in range(self.count // self.each):
            self.take(oracle)
        seconds = time.perf_counter() - started
        return Hypothesis(predict=oracle.family.known, details={"seconds_of_draws": seconds})


    def take(self, oracle):
        oracle.draw(self.each)


class DrawsSmall(Draws):
    count, each = 1 << 18, 1 << 12


class Reads(Draws):
    """Looks at tokens and labels, as learners do."""

    count, each = 1 << 16, 1 << 12

    def take(self, oracle):
        examples = oracle.draw(self.each)
        examples.x, examples.y


class DrawsFew(Draws):
    count, each = 1 << 16, 1 << 13
'''


def _both(name: str, folder: Path) -> tuple[Any, Any]:
    """The same learner: in process, and from its file."""
    file = folder / "learners.py"
    file.write_text(_LEARNERS)
    learner = run_path(str(file))[name]()
    learner.spec = name
    return learner, parse_learner(f"{file}:{name}")


def overhead(rounds: int = 9) -> list[str]:
    instance = parse("parity:d=20,m=3").instance(0)
    with tempfile.TemporaryDirectory() as folder:
        times: list[list[float]] = [[], []]
        for learner, kept in zip(_both("Trivial", Path(folder)), times, strict=True):
            run(learner, instance, Budget())
            for _ in range(rounds):
                started = time.perf_counter()
                run(learner, instance, Budget())
                kept.append(time.perf_counter() - started)
    here, there = times
    best, median = (f(there) - f(here) for f in (min, statistics.median))
    return [
        "| a learner from a file, run in a process of its own: on top of its work | "
        f"{best:.2f} s at best, {median:.2f} s in the median of {rounds} | the run takes "
        f"{min(there) / min(here):.0f} times that in process ({min(here) * 1e3:.0f} ms) |"
    ]


def _seconds_of_draws(learner: Learner, instance: Instance) -> float:
    details = run(learner, instance, Budget()).details
    return float(details.get("reported", details)["seconds_of_draws"])


def examples(spec: str, name: str = "Draws", rounds: int = 5) -> list[str]:
    instance = parse(spec).instance(0)
    with tempfile.TemporaryDirectory() as folder:
        batch = _both(name, Path(folder))[0].each
        here, there = (
            min(_seconds_of_draws(learner, instance) for _ in range(rounds))
            for learner in _both(name, Path(folder))
        )
    looked = ", looked at" if name == "Reads" else ""
    return [
        f"| examples of {spec} through a socket, {batch} a time{looked} | "
        f"{there / here:.2f} times the time in "
        f"process | {there:.3f} s against {here:.3f} s |"
    ]


def isolation() -> list[str]:
    return [
        *overhead(),
        *examples("parity:d=64,m=5"),
        *examples("parity:d=64,m=5", "DrawsSmall"),
        *examples("parity:d=64,m=5", "Reads"),
        *examples("parity:d=1000,m=10", "DrawsFew"),
        *examples("nice:m=2,k=2,d=16", "DrawsFew"),
        *examples("lwr:n=32,q=1024,p=32"),
    ]


if __name__ == "__main__":
    print("\n".join(isolation()))

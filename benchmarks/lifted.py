"""Tables of the learner `lifted`, for docs/lifted-tables.md: `make lifted-tables`.

They show linear attention by least squares, the effect of noise, ranks on boolean tokens, and
softmax layers with logits of different size.
"""

import os
import platform
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from timing import hardness, table  # isort: skip

import numpy as np

from hardness.learners.lifted import Cubic, LeastSquares, tensor
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import parse
from instances.cubic import coefficients, power

SCALES = (
    "compare nice:m=2,k=4,d=8 --over scale=0.03,0.1,0.3,1,3,10,30 --learner lifted "
    "--learner student --learner staged --seeds 3 --budget-seconds 240 --jobs 1"
)
SEEDS, FRESH, HEADS = range(5), 2000, (1, 4, 20)
TAUS = ("0.03", "0.1", "0.3", "1", "3")
Array = np.ndarray


def drawn(spec: str, seed: int, ratio: float) -> tuple[Array, Array, Callable[[Array], float]]:
    """Return features and labels of examples, and the error of solutions on fresh tokens."""
    family = parse(spec)
    instance, features = family.instance(seed), Cubic(k=family.k, d=family.d)
    boolean = family.token_text == "boolean"
    count = -(-int(1000 * ratio) * features.examples(boolean) // 1000)
    batch, fresh = instance.examples(0, count), instance.examples(0, FRESH, axis="fresh").x
    target = family.mean(instance.hidden.secret, fresh)

    def off(solution: Array) -> float:
        return relative(features.predict(solution, fresh), target)

    return features(batch.x).reshape(-1, features.count), batch.y.reshape(-1, family.d), off


def relative(value: Array, truth: Array) -> float:
    return float(np.linalg.norm(value - truth) / np.linalg.norm(truth))


def fitted(rows: Array, labels: Array) -> Any:
    sums = LeastSquares(features=rows.shape[1], labels=labels.shape[1])
    sums.add(rows, labels)
    return sums.solve()


def truth(spec: str, seed: int) -> Array:
    layer = parse(spec).instance(seed).layer()
    return coefficients(layer.theta, layer.w)


def exact(task: tuple[int, int, int]) -> str:
    """Solve the same least squares by `lifted`, by numpy on all rows, and by normal equations."""
    k, d, m = task
    found = []
    for seed in SEEDS:
        rows, labels, off = drawn(f"linear:m={m},k={k},d={d}", seed, 1.2)
        plain, normal = np.linalg.lstsq(rows, labels)[0], (rows.T @ rows, rows.T @ labels)
        ways = (fitted(rows, labels).solution, plain, np.linalg.solve(*normal))
        found.append([off(way) for way in ways])
    worst = [f"{max(column):.1e}" for column in zip(*found, strict=True)]
    return f"| {k} | {d} | {m} | {' | '.join(worst)} |"


def size(spec: str) -> str:
    found = run(parse_learner("lifted"), parse(spec).instance(0), Budget())
    error = float(np.sqrt(found.risk)) if found.risk is not None else float("nan")
    return (
        f"| `{spec}` | {found.details['features']} | {found.examples} | {error:.1e} "
        f"| {found.seconds:.2f} | {found.memory / 2**30:.2f} GiB |"
    )


def noise(task: tuple[int, int]) -> str:
    """Compute the excess error of an entry times rows / features from errors of coefficients."""
    k, d = task
    spec, found = f"linear:m=4,k={k},d={d},noise=1", []
    for seed in range(20):
        rows, labels, _ = drawn(spec, seed, 200)
        apart = tensor(fitted(rows, labels).solution) - truth(spec, seed)
        found.append(power(apart, k, "gaussian") / (k * d) * len(rows) / rows.shape[1])
    return f"| {k} | {d} | {mean(found):.3f} | {stdev(found) / len(found) ** 0.5:.3f} |"


def boolean(task: tuple[int, int]) -> str:
    k, d = task
    spec, found = f"linear:m=4,k={k},d={d},tokens=boolean", []
    for seed in SEEDS:
        rows, labels, off = drawn(spec, seed, 4)
        fit = fitted(rows, labels)
        apart = relative(tensor(fit.solution), truth(spec, seed))
        found.append((fit.rank, off(fit.solution), apart))
    features = Cubic(k=k, d=d)
    ranks, errors, aparts = zip(*found, strict=True)
    shown = ", ".join(map(str, sorted(set(ranks))))
    return (
        f"| {k} | {d} | {features.count} | {features.rank(True)} | {shown} | {max(errors):.1e} "
        f"| {median(aparts):.2f} |"
    )


def unexplained(task: tuple[str, int, str, str]) -> str:
    tokens, k, tau, m = task
    spec = f"nice:scale={tau},m={m},k={k},d=8,tokens={tokens}"
    runs = [run(parse_learner("lifted"), parse(spec).instance(seed), Budget()) for seed in SEEDS]
    found = [each.details["unexplained"] for each in runs]
    shares = " | ".join(f"{each:.1e}" for each in (median(found), min(found), max(found)))
    return f"| {tokens} | {k} | {m} | {tau} | {shares} |"


def main() -> None:
    print(
        "# Tables of the learner `lifted`\n\nPrinted by `make lifted-tables`: one core a run. "
        f"Errors are relative, |difference| / |labels| on {FRESH} fresh examples.\n"
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}."
    )
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        table(
            "Linear attention from 1.2 times as many rows as features, worst of seeds 0 to 4",
            "| k | d | heads | `lifted` | numpy, all rows at once | normal equations |",
            pool.map(exact, product((2, 3, 4), range(3, 9), HEADS)),
        )
        table(
            "Noise of standard deviation 1, 200 rows a feature: excess error x rows / features, "
            "20 runs",
            "| k | d | mean | standard error |",
            pool.map(noise, [(2, 4), (3, 4), (4, 4), (3, 6)]),
        )
        table(
            "Boolean tokens: the function is found, the coefficients are not",
            "| k | d | features | d(d(d-1)/2+1) | rank found | worst error | error of T |",
            pool.map(boolean, product((2, 3, 4), (3, 4, 6, 8))),
        )
        table(
            "Softmax layers at d = 8: share of the labels' second moment left, seeds 0 to 4",
            "| tokens | k | heads | scale | median | least | largest |",
            pool.map(unexplained, product(("boolean", "gaussian"), (2, 4), TAUS, "2")),
        )
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool,
        tempfile.TemporaryDirectory() as folder,
    ):
        table(
            "Time and memory, one run at a time in a process of its own",
            "| layer | features | examples | error | seconds | peak memory |",
            pool.map(size, ("linear:m=20,k=3,d=12", "linear:m=4,k=4,d=16", "linear:m=4,k=3,d=20")),
        )
        printed = hardness(*SCALES.split(), "--out", Path(folder) / "scales").rstrip()
    print(f"\n## From easy to hard\n\n`hardness {SCALES}`\n\n```text\n{printed}\n```")


if __name__ == "__main__":
    main()

"""Tables of the learner `lifted`, for docs/lifted-tables.md: `make lifted-tables`.

Linear attention by least squares, what noise costs, ranks on boolean tokens, softmax layers by the
size of their logits.
"""

import os
import platform
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median, stdev

from timing import hardness, table  # isort: skip

import numpy as np

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from hardness.upper.lifted import MAPS, Cubic, LeastSquares, predict, tensor
from instances import parse
from instances.cubic import coefficients, power

SCALES = (
    "compare nice:m=2,k=4,d=8 --over scale=0.03,0.1,0.3,1,3,10,30 --learner lifted "
    "--learner student --learner staged --seeds 3 --budget-seconds 240 --jobs 1"
)
SEEDS, MANY = range(5), range(20)
FRESH = 2000
HEADS = (1, 4, 20)
Array = np.ndarray


def drawn(spec: str, seed: int, ratio: float) -> tuple[Array, Array, Array, Array, int]:
    """Rows of features and labels of examples, and fresh tokens with their function values."""
    family = parse(spec)
    instance, features = family.instance(seed), MAPS[kind(spec)](k=family.k, d=family.d)
    boolean = family.token_text == "boolean"
    count = -(-int(1000 * ratio) * features.examples(boolean) // 1000)
    batch, fresh = instance.examples(0, count), instance.examples(0, FRESH, axis="fresh").x
    rows = features(batch.x).reshape(-1, features.count)
    target = family.mean(instance.hidden.secret, fresh)
    return rows, batch.y.reshape(-1, family.d), fresh, target, count


def kind(spec: str) -> str:
    return "cubic" if spec.startswith("linear") else "softmax"


def relative(spec: str, solution: Array, fresh: Array, target: Array) -> float:
    family = parse(spec)
    given = predict(MAPS[kind(spec)](k=family.k, d=family.d), solution, fresh)
    return float(np.linalg.norm(given - target) / np.linalg.norm(target))


def exact(task: tuple[int, int, int]) -> str:
    """Three ways to solve the same least squares: ours, numpy's on all rows, normal equations."""
    k, d, m = task
    spec, found = f"linear:m={m},k={k},d={d}", []
    for seed in SEEDS:
        rows, labels, fresh, target, _ = drawn(spec, seed, 1.2)
        sums = LeastSquares(features=rows.shape[1], labels=d)
        sums.add(rows, labels)
        ways = (
            sums.solve().solution,
            np.linalg.lstsq(rows, labels)[0],
            np.linalg.solve(rows.T @ rows, rows.T @ labels),
        )
        found.append([relative(spec, way, fresh, target) for way in ways])
    worst = [f"{max(column):.1e}" for column in zip(*found, strict=True)]
    return f"| {k} | {d} | {m} | {' | '.join(worst)} |"


def size(spec: str) -> str:
    found = run(parse_learner("lifted"), parse(spec).instance(0), Budget())
    error = float(np.sqrt(found.risk.value)) if found.risk else float("nan")
    return (
        f"| `{spec}` | {found.details['features']} | {found.usage.examples} | {error:.1e} "
        f"| {found.usage.seconds:.2f} | {found.usage.peak_bytes / 2**30:.2f} GiB |"
    )


def noise(task: tuple[int, int]) -> str:
    """Excess error of an entry times rows / features, by the moments of the coefficients' error."""
    k, d = task
    found = []
    for seed in MANY:
        spec = f"linear:m=4,k={k},d={d},noise=1"
        layer = parse(spec).instance(seed).layer()
        rows, labels, _, _, _ = drawn(spec, seed, 200)
        sums = LeastSquares(features=rows.shape[1], labels=d)
        sums.add(rows, labels)
        off = tensor(sums.solve().solution) - coefficients(layer.theta, layer.w)
        found.append(power(off, k, "gaussian") / (k * d) * len(rows) / rows.shape[1])
    return f"| {k} | {d} | {mean(found):.3f} | {stdev(found) / len(found) ** 0.5:.3f} |"


def boolean(task: tuple[int, int]) -> str:
    k, d = task
    spec = f"linear:m=4,k={k},d={d},tokens=boolean"
    off: list[float] = []
    error, ranks = [], set()
    for seed in SEEDS:
        instance = parse(spec).instance(seed)
        layer = instance.layer()
        truth = coefficients(layer.theta, layer.w)
        rows, labels, fresh, target, _ = drawn(spec, seed, 4)
        sums = LeastSquares(features=rows.shape[1], labels=d)
        sums.add(rows, labels)
        fit = sums.solve()
        ranks.add(fit.rank)
        error.append(relative(spec, fit.solution, fresh, target))
        off.append(float(np.linalg.norm(tensor(fit.solution) - truth) / np.linalg.norm(truth)))
    features = Cubic(k=k, d=d)
    shown = ", ".join(map(str, sorted(ranks)))
    return (
        f"| {k} | {d} | {features.count} | {features.rank(True)} | {shown} | {max(error):.1e} "
        f"| {median(off):.2f} |"
    )


def unexplained(task: tuple[str, int, str, str]) -> str:
    tokens, k, tau, m = task
    spec = f"nice:scale={tau},m={m},k={k},d=8,tokens={tokens}"
    found = [
        run(parse_learner("lifted"), parse(spec).instance(seed), Budget()).details["unexplained"]
        for seed in SEEDS
    ]
    shares = " | ".join(f"{each:.1e}" for each in (median(found), min(found), max(found)))
    return f"| {tokens} | {k} | {m} | {tau} | {shares} |"


def along_scales() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return hardness(*SCALES.split(), "--out", Path(folder) / "scales").rstrip()


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
            pool.map(exact, [(k, d, m) for k in (2, 3, 4) for d in range(3, 9) for m in HEADS]),
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
            pool.map(boolean, [(k, d) for k in (2, 3, 4) for d in (3, 4, 6, 8)]),
        )
        taus = ("0.03", "0.1", "0.3", "1", "3")
        table(
            "Softmax layers at d = 8: share of the labels' second moment left, seeds 0 to 4",
            "| tokens | k | heads | scale | median | least | largest |",
            pool.map(
                unexplained,
                [(t, k, tau, "2") for t in ("boolean", "gaussian") for k in (2, 4) for tau in taus],
            ),
        )
    sizes = ("linear:m=20,k=3,d=12", "linear:m=4,k=4,d=16", "linear:m=4,k=3,d=20")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        table(
            "Time and memory, one run at a time in a process of its own",
            "| layer | features | examples | error | seconds | peak memory |",
            pool.map(size, sizes),
        )
    print(f"\n## From easy to hard\n\n`hardness {SCALES}`\n\n```text\n{along_scales()}\n```")


if __name__ == "__main__":
    main()

"""Studies of in-context regression at their default sizes, for docs: `make icl-tables`.

Writes docs/in-context-tables.md to standard output.
"""

import os
import platform
import tempfile
import time
from pathlib import Path

from timing import hardness

STUDIES = {
    "One layer": "optimum",
    "One layer where points are spread unevenly": "optimum --sigma diag(1,.5,.25,.125,.06) "
    "--task identity",
    "One layer, long prompts": "optimum --n 100",
    "Scalars, exactly": "steps",
    "Scalars with label noise": "steps --noise 1",
    "Training three layers, P = 0": "train",
    "Training three layers, P and Q": "train --free both",
    "Training with Adam on fresh batches": "train --optimizer adam",
    "Training on uneven points, whitened": "train --sigma diag(1,.5,.2,.1,.05)",
    "Training on uneven points, raw": "train --sigma diag(1,.5,.2,.1,.05) --raw",
    "The loss against the number of layers": "curves",
    "Adam against SGD": "optimizers",
    "Adam against SGD without clipping": "optimizers --clip 0 --seeds 3",
    "Softmax attention": "softmax",
}


def study(line: str) -> tuple[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "study"
        start = time.perf_counter()
        found = hardness("icl", *line.split(), "--out", out)
        seconds = time.perf_counter() - start
    return found.partition("\n\nwritten: ")[0].rstrip(), seconds


def main() -> None:
    print("# Tables of in-context regression\n")
    print("Printed by `make icl-tables`, one command after the other on one core of")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, with")
    print(f"{os.cpu_count()} cores in all. What the numbers say stands in")
    print("[in-context regression](in-context.md). Seeds are 0.")
    for title, line in STUDIES.items():
        text, seconds = study(line)
        shown = f"`hardness icl {line}`, {seconds:.0f} s\n\n```text\n{text}\n```"
        print(f"\n## {title}\n\n{shown}", flush=True)


if __name__ == "__main__":
    main()

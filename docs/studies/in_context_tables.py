"""The tables of in-context regression, docs/in-context-tables.md, to standard output."""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
TABLES = {
    "One layer": "hardness icl optimum",
    "One layer where points are spread unevenly": "hardness icl optimum "
    "--sigma diag(1,.5,.25,.125,.06) --task identity",
    "One layer, long prompts": "hardness icl optimum --n 100",
    "Minima over all parameters of one layer": "python docs/studies/landscape.py",
    "Scalars, exactly": "hardness icl steps",
    "Scalars with label noise": "hardness icl steps --noise 1",
    "Training three layers, P = 0": "hardness icl train",
    "Training three layers, P and Q": "hardness icl train --free both",
    "Training on uneven points, whitened": "hardness icl train --sigma diag(1,.5,.2,.1,.05)",
    "Training on uneven points, raw": "hardness icl train --sigma diag(1,.5,.2,.1,.05) --raw",
    "The loss against the number of layers": "hardness icl curves",
    "Adam against SGD": "python docs/studies/optimizers.py",
    "Adam against SGD without clipping": "python docs/studies/optimizers.py --clip inf --seeds 3",
    "Softmax attention": "python docs/studies/softmax.py",
}

if __name__ == "__main__":
    print("# Tables of in-context regression\n")
    print("Printed by `make studies`, one command after the other on one core of")
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, with")
    print(f"{os.cpu_count()} cores in all. The conclusions are in")
    print("[in-context regression](in-context.md). Seeds are 0.")
    for title, line in TABLES.items():
        name, *rest = line.split()
        program = (
            Path(sys.executable).with_name("hardness") if name == "hardness" else sys.executable
        )
        start = time.perf_counter()
        printed = subprocess.run(
            [program, *rest], cwd=HERE.parents[1], check=True, capture_output=True, text=True
        ).stdout
        seconds = time.perf_counter() - start
        print(
            f"\n## {title}\n\n`{line}`, {seconds:.0f} s\n\n```text\n{printed.rstrip()}\n```",
            flush=True,
        )

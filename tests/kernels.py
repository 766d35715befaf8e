"""Run the numerical tests as the oldest processor would round: `make test-kernels`.

OpenBLAS rounds by the kernel that it picks for a processor, numpy's functions by its vector
instructions. `make test` runs under what this processor has; an x86-64 processor runs the kernel of
the oldest too, here without numpy's vector instructions. Others, and a numpy that is not built on
OpenBLAS, leave no choice: nothing is run again.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
# Where floating-point linear algebra, or what is trained by it, decides whether a test passes.
NUMERICAL = (
    "tests/hardness/test_icl_gram.py",
    "tests/hardness/test_lifted.py",
    "tests/hardness/test_kernel_learners.py",
    "tests/hardness/test_spectra.py",
    "tests/hardness/test_staged_*.py",
    "tests/instances/test_dense.py",
    "tests/instances/test_layers.py",
    "tests/instances/test_streams.py",
)
OLDEST = "Prescott"  # SSE3, which every x86-64 processor of today has
BUILD = np.show_config(mode="dicts")


def run(options: list[str]) -> int:
    """Run the tests under the oldest kernel; returns the exit code."""
    openblas = "openblas" in BUILD["Build Dependencies"]["blas"]["name"]
    if not openblas or platform.machine() not in ("x86_64", "AMD64"):
        print("no choice of kernels here: make test has run them all")
        return 0
    chosen = {
        "OPENBLAS_CORETYPE": OLDEST,
        "NPY_DISABLE_CPU_FEATURES": " ".join(BUILD["SIMD Extensions"]["found"]),
    }
    files = sorted(str(file) for pattern in NUMERICAL for file in ROOT.glob(pattern))
    command = [sys.executable, "-m", "pytest", *options, *files]
    return subprocess.run(command, cwd=ROOT, env=os.environ | chosen).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

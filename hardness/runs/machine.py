"""What did a run: system and processor, and the versions of what its numbers depend on."""

import platform
from functools import cache
from importlib import metadata
from pathlib import Path

version = cache(metadata.version)  # it reads a file: as long as a short run


@cache
def machine() -> str:
    """Name the system and the processor: the last digits of sums in float64 depend on it."""
    name = platform.processor()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2]
                break
    except OSError:
        pass  # not Linux: what Python knows has to do
    return " ".join(f"{platform.system()} {platform.machine()} {name}".split())


def versions() -> dict[str, str]:
    """Return the versions that stand with every run.

    >>> sorted(versions())
    ['hardness', 'numpy', 'python']
    """
    return {
        "hardness": version("hardness-toolkit"),
        "numpy": version("numpy"),
        "python": platform.python_version(),
    }

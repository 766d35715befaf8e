"""Limits of memory and disk: a request that does not fit is refused with its estimate."""

import os
import re
import shutil
from pathlib import Path

from instances.errors import TooLarge, UsageError


def readable_bytes(count: float) -> str:
    """Write a number of bytes with its unit.

    >>> readable_bytes(3 * 2**30)
    '3.0 GiB'
    """
    if count >= 1 << 60:
        return "over 1024 PiB"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024:
            return f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.3g} PiB"


_UNITS = {
    "": 1,
    **{f"{prefix}b": 1000**i for i, prefix in enumerate(["", "k", "m", "g", "t"])},
    **{f"{prefix}ib": 1024**i for i, prefix in enumerate(["k", "m", "g", "t"], 1)},
}


def bytes_of(text: str, subject: str) -> int:
    """Read a number of bytes with its unit; raises UsageError.

    >>> bytes_of("500MB", "memory"), bytes_of("1.5 GiB", "memory"), bytes_of("4096", "memory")
    (500000000, 1610612736, 4096)
    """
    parts = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([A-Za-z]{0,3})", text.strip())
    count = float(parts[1]) * _UNITS.get(parts[2].lower(), 0) if parts else 0.0
    if not 1 <= count < 2**63:
        raise UsageError(
            f"{subject} must be a number of bytes such as 500MB, 4GiB or 4096, got {text}"
        )
    return int(count)


def available_memory() -> int:
    """Estimate the bytes of memory that a process may still take."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux: POSIX is asked below
    if not hasattr(os, "sysconf"):
        return 1 << 62  # unknown on this system: no limit
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def require_memory(needed: int, subject: str) -> None:
    """Refuse a request for more than 80 % of the free memory; raises TooLarge."""
    _require(needed, available_memory(), 0.8, subject, "memory")


def require_disk(needed: int, where: Path, subject: str) -> None:
    """Refuse a request for more than 95 % of the free disk of a folder; raises TooLarge."""
    _require(needed, shutil.disk_usage(where).free, 0.95, subject, "disk")


def _require(needed: int, free: int, share: float, subject: str, place: str) -> None:
    if needed > share * free:
        sizes = f"{readable_bytes(needed)} of {place}, {readable_bytes(free)} are free"
        raise TooLarge(f"{subject} needs {sizes}: ask for less")

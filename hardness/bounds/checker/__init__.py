"""The checker of certificates: bare Python, which imports nothing of what makes them.

`python -I -S hardness/bounds/checker FILE` runs it alone.
"""

from .certificate import FORMAT, Proved, check, prove, read_problem
from .reading import Refused, load, read, short, written
from .theorem import Claim

__all__ = ["FORMAT", "Claim", "Proved", "Refused", "check", "load", "prove", "read",
           "read_problem", "short", "written"]  # fmt: skip

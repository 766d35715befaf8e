"""The checker of certificates, in bare Python: `python -I -S hardness/bounds/checker FILE`."""

from .certificate import FORMAT, Proved, check, prove, read_problem
from .reading import Refused, load, read, short, written
from .theorem import Claim

__all__ = ["FORMAT", "Claim", "Proved", "Refused", "check", "load", "prove", "read",
           "read_problem", "short", "written"]  # fmt: skip

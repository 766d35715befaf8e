"""Checking: derives claims again from their evidence, and knows nothing of how they were made."""

from hardness.check.certificate import Checked, check

__all__ = ["Checked", "check"]

"""Checking: does what a file claims follow from its proof, or from the game that it records?"""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.check.certificate import check
    from hardness.check.verdict import Checked

__all__ = ["Checked", "check"]

lazily(__name__)

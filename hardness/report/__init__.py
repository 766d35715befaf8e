"""What people look at: words, figures, the page."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.report.page import page

__all__ = ["page"]

lazily(__name__)

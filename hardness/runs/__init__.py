"""Both sides together: runs of learners, their risks, and bounds over a range of sizes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

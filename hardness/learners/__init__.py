"""Learners: what can be done, measured on the same instances as the lower bounds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

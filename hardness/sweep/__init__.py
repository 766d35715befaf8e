"""Sweeps: a file of specs, learners, seeds and budgets, done on an engine into a store."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

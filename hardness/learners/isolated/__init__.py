"""Learners from files in processes of their own: what they see, what they may use, how they end.

    parent (holds the secret) --- messages over one socket --- [ bubblewrap: ] the learner's process

Nothing of a learner's file is executed in the process that knows the secret. `process` starts the
learner's process with its limits and ends it, `sandbox` closes it in where bubblewrap runs,
`messages` says what it may say, and `ends` lists all ways in which it can end.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

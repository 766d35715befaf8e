"""Learners from files in processes of their own: what they see, what they may use, how they end.

    parent (holds the secret) --- watches ---> bubblewrap [ process 1 --- parent of ---> learner ]
             \\____________________ messages over one socket ____________________________/

Nothing of a learner's file is executed in the process that knows the secret. `contain` closes the
learner's process in, with `fence` and `group`; `reach` says what lies in its folder, `messages`
what it may say, `watch` what it may use, and `ends` lists all ways in which it can end.
"""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.upper.isolated.contain import CONTAIN, DEVICE, Level, level
    from hardness.upper.isolated.learner import SubprocessLearner

__all__ = ["CONTAIN", "DEVICE", "Level", "SubprocessLearner", "level"]

lazily(__name__)

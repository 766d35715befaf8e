"""Learners of others in processes of their own: what they see, what they may use, how they end.

parent (holds the secret)  --control-->  guard  --parent of-->  child (runs the learner)
        \\________________ data socket and shared window ____________/

The guard stands between both, in a session of its own: it adopts what the child leaves, watches
memory, processor time and the number of processes, and ends them all when it is told to, when a
limit is passed, or when the parent is gone.
"""

from hardness.upper.isolated.foreign import Foreign
from hardness.upper.isolated.protect import protect

__all__ = ["Foreign", "protect"]

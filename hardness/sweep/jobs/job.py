"""What a sweep is made of: jobs, each named by its content and written as JSON."""

import hashlib
import json
from typing import Any, ClassVar, Protocol


class Job(Protocol):
    """A piece of work whose result depends on its content alone: a frozen record.

    kind: its name in JSON. `do` may raise ToolkitError: the job could not be done here.
    """

    kind: ClassVar[str]

    @property
    def key(self) -> str:
        """The content key of the job: 32 hexadecimal digits."""

    @property
    def label(self) -> str:
        """What progress is counted by: the learner, or the kind of what is computed."""

    def to_json(self) -> dict[str, Any]:
        """Write the job; `hardness.sweep.jobs.read_job` reads it."""

    def do(self) -> dict[str, Any]:
        """Do the work: JSON, the same wherever it is done but for times and memory."""


def content_key(kind: str, content: dict[str, Any]) -> str:
    """Hash what a result depends on to 32 hexadecimal digits.

    >>> content_key("run", {"a": 1, "b": 2}) == content_key("run", {"b": 2, "a": 1})
    True
    """
    text = json.dumps([kind, content], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]

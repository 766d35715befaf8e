"""What a check found, and how it reads and refuses: a refusal is a Refuted with its reason."""

from dataclasses import dataclass, field
from typing import Any, NoReturn

from instances.errors import Refuted
from instances.result import Result, TableRow


@dataclass(frozen=True, kw_only=True, repr=False)
class Checked(Result):
    """What a file was found to prove, in the checker's own words."""

    spec: str
    statements: tuple[str, ...]
    assumed: str = ""  # what is taken from the file as it stands; nothing of most certificates
    conditions: str = ""  # what the statements are about, where they do not say it themselves
    checker: str = "the kernel"
    file: str | None = field(default=None, compare=False)  # that was checked

    def to_dict(self) -> dict[str, Any]:
        """Give what was found as `hardness check --json` does."""
        return {
            **({"file": self.file} if self.file else {}),
            "accepted": True,
            "checker": self.checker,
            "spec": self.spec,
            "conditions": self.conditions or None,
            "assumed": self.assumed or None,
            "statements": list(self.statements),
        }

    def _rows(self) -> list[TableRow]:
        return [{"proven": one} for one in self.statements]


def refuse(reason: str) -> NoReturn:
    """Refuse the certificate; raises Refuted, in one line whatever the reason quotes of the file.

    >>> refuse("its spec is a\\nb")
    Traceback (most recent call last):
    instances.errors.Refuted: certificate refused: its spec is a b
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(reason.split()))
    raise Refuted(f"certificate refused: {line[:400]}")

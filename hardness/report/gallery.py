"""The figures by name: what each shows, and what it is drawn from."""

from dataclasses import dataclass
from typing import Literal

Source = Literal["SPEC", "FILE"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A figure as `hardness figure` lists it, of a SPEC or of what the command `made` wrote.

    members: whether it is drawn of functions of a file and of layers in a folder, too.
    """

    shows: str
    source: Source
    made: str = ""
    members: bool = False

    @property
    def takes(self) -> str:
        """Say what stands in the place of SOURCE.

        >>> GALLERY["sda"].takes, GALLERY["adversary"].takes
        ('a SPEC', 'of `hardness learn NAME SPEC --oracle adversary --transcript FILE`')
        """
        return f"of `hardness {self.made}`" if self.made else "a SPEC"


_COMPARE = "compare ... --out DIR"

GALLERY: dict[str, Entry] = {
    "both-sides": Entry(
        shows="queries, examples and time of learners beside certified bounds",
        source="FILE",
        made=_COMPARE,
    ),
    "phase": Entry(
        shows="where learners solve, over two parameters, beside bounds",
        source="FILE",
        made=_COMPARE,
    ),
    "risks": Entry(
        shows="relative risk and examples, over a parameter",
        source="FILE",
        made=_COMPARE,
    ),
    "scaling": Entry(shows="costs with fitted power laws", source="FILE", made=_COMPARE),
    "attacks": Entry(
        shows="time of attacks beside estimates",
        source="FILE",
        made=_COMPARE,
    ),
    "training": Entry(shows="advantage of trained networks by steps", source="FILE", made=_COMPARE),
    "dial": Entry(
        shows="error after each stage of the learner staged over a parameter",
        source="FILE",
        made=_COMPARE,
    ),
    "stages": Entry(
        shows="what the stages of one run of staged saw",
        source="FILE",
        made="learn staged SPEC --out FILE",
    ),
    "stress": Entry(
        shows="how far learners climb a ladder, and at what cost",
        source="FILE",
        made="stress ... --out FILE",
    ),
    "map": Entry(
        shows="noisy parity: examples against time, with bounds and runs",
        source="FILE",
        made="map SPEC --out DIR",
    ),
    "adversary": Entry(
        shows="members left after each query of a game",
        source="FILE",
        made="learn NAME SPEC --oracle adversary --transcript FILE",
    ),
    "icl": Entry(shows="a study of in-context regression", source="FILE", made="icl ... --out DIR"),
    "correlations": Entry(
        shows="correlation of two members, by their overlap if they have one",
        source="SPEC",
        members=True,
    ),
    "eigenvalues": Entry(
        shows="spectrum of the Gram matrix of all members", source="SPEC", members=True
    ),
    "sda": Entry(
        shows="statistical dimension with average correlation", source="SPEC", members=True
    ),
    "walsh": Entry(shows="Walsh weight of an LWE-style member by degree", source="SPEC"),
    "portrait": Entry(
        shows="what a member of a family computes, by formula and layer", source="SPEC"
    ),
    "collapse": Entry(shows="least squares: error by number of examples", source="SPEC"),
    "heads": Entry(shows="what fits of 0 to 8 heads leave", source="SPEC"),
    "descent": Entry(shows="noisy gradient descent beside its bound", source="SPEC"),
}

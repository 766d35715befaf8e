"""Theory beside measurement: statements of the sources, predicted, measured and judged."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hardness.verbs import progress
from hardness.verbs.ask import cores, path, thing
from hardness.verbs.asks import FORCE, JOBS, SEED
from hardness.verbs.command import verb
from instances.errors import AlreadyExists

if TYPE_CHECKING:
    from hardness.theory import Finding, Statement, Theory
    from instances.result import Answer

PAGE = "theory.html"


def _names() -> list[str]:
    """Name the statements."""
    from hardness.theory import statements

    return ["all", *statements()]


@verb(
    "Statements of theory beside what is measured.",
    out="Where to write: a file a statement and a page of all that are there, to a folder.",
    place="own",
)
def theory(
    names: Annotated[
        Sequence[str], thing("Statements, or `all`; none lists them.", _names, many=True)
    ] = (),
    *,
    seed: Annotated[int, SEED] = 0,
    jobs: Annotated[int | None, JOBS] = None,
    out: Annotated[Path | None, path("A folder.", flag="--out")] = None,
    force: Annotated[bool, FORCE] = False,
) -> "Theory | Answer":
    """Say what theory predicts, measure it, and judge: agrees, looser by a factor, or fails.

    Without NAMES: list the statements with what they predict. Each setting is predicted, and the
    predictions are hashed, before any is measured. In the folder --out a statement that stands
    there, with the same predictions and seed, is not measured again unless forced to: what was
    interrupted goes on.

    >>> theory("sq-dimension", jobs=1).findings[0].verdict
    'agrees'
    """
    from hardness.report.page.theory import page
    from hardness.theory import Theory, find, statement, statements
    from instances.disk import write_json, write_text

    every = statements()
    if not names:
        return _listed(list(every.values()))
    chosen = list(every) if "all" in names else list(dict.fromkeys(names))
    asked = [statement(str(name)) for name in chosen]
    stands = _stands(out, set(every)) if out else {}
    found: list[Finding] = []
    with progress.counted(sum(len(one.settings) for one in asked), "measuring") as bar:
        for one in asked:
            old = stands.get(one.name)
            if old and not force and (old.digest, old.seed) == (one.digest, seed):
                bar(len(one.settings))
            else:
                stands[one.name] = old = find(one, seed, cores(jobs), bar)
                if out:
                    out.mkdir(parents=True, exist_ok=True)
                    write_json(out / f"{one.name}.json", old.to_dict(), force=True)
            found.append(old)
    if out:
        shown = Theory(findings=tuple(stands[name] for name in every if name in stands))
        write_text(out / PAGE, page(shown), force=True)
    return Theory(findings=tuple(found))


def _stands(folder: Path, names: set[str]) -> "dict[str, Finding]":
    """Read what stands in a folder; raises AlreadyExists where it holds what is not ours."""
    from hardness.theory import Finding

    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise AlreadyExists(f"{folder} exists and is no folder: give another --out")
    ours = {PAGE, *(f"{name}.json" for name in names)}
    if foreign := sorted(one.name for one in folder.iterdir() if one.name not in ours):
        raise AlreadyExists(f"{folder} holds {foreign[0]}, which is not ours: give another --out")
    return {one.stem: Finding.load(one) for one in folder.glob("*.json")}


def _listed(every: "list[Statement]") -> "Answer":
    from hardness.report.theory import listed_words
    from hardness.theory import place
    from instances.result import Answer

    data = {
        one.name: {
            "subject": one.subject,
            "owner": one.owner,
            "source": one.source,
            "says": one.says,
            "predicts": one.predicts,
            "digest": one.digest,
            "predictions": {
                place(at): said.to_dict()
                for at, said in zip(one.settings, one.predictions, strict=True)
            },
        }
        for one in every
    }
    return Answer(data={"statements": data}, told=listed_words(every))

"""Theory beside measurement: statements of the sources, predicted, measured and judged."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hardness.verbs import progress
from hardness.verbs.ask import cores, path, thing
from hardness.verbs.asks import FORCE, JOBS, SEED
from hardness.verbs.command import verb
from hardness.verbs.keeping import require_folder
from instances.errors import AlreadyExists, UsageError

if TYPE_CHECKING:
    from hardness.theory import Finding, Statement, Statements, Theory

PAGE = "theory.html"


def _names() -> list[str]:
    """Name the statements."""
    from hardness.theory import statements

    return ["all", *statements()]


@verb(
    "Statements of theory beside what is measured.",
    out="Where to write: a file a statement and a page of all, to a folder; or a table.",
    place="folder",
)
def theory(
    names: Annotated[
        Sequence[str], thing("Statements, or `all`; none lists them.", _names, many=True)
    ] = (),
    *,
    seed: Annotated[int, SEED] = 0,
    jobs: Annotated[int | None, JOBS] = None,
    out: Annotated[Path | None, path("A folder, or a table.", flag="--out")] = None,
    force: Annotated[bool, FORCE] = False,
) -> "Theory | Statements":
    """Say what theory predicts, measure it, and judge: agrees, looser, fails or cannot tell.

    Without NAMES: list the statements; --json has what they predict. Each setting is predicted, and
    the predictions are hashed, before any is measured. In the folder --out a statement that stands
    there, with the same predictions and seed, is not measured again unless forced to: what was
    interrupted goes on.

    >>> theory("sq-dimension", jobs=1).findings[0].verdict
    'agrees'
    """
    from hardness.report.page.theory import page
    from hardness.theory import Statements, Theory, find, statement, statements
    from instances.disk import refuse_existing, write_json, write_text
    from instances.export import form_of

    every = statements()
    if not names:
        if out:
            raise UsageError("--out given without names: say which statements, or `all`")
        return Statements(every=tuple(every.values()))
    require_folder(out)
    folder = None if out and form_of(out) else out
    if out and not folder:
        refuse_existing(out, force)
    named = [statement(str(name)) for name in dict.fromkeys(names) if name != "all"]
    asked = list(every.values()) if "all" in names else named
    stands = _stands(folder, every) if folder else {}
    found: list[Finding] = []
    with progress.counted(sum(len(one.settings) for one in asked), "measuring") as bar:
        for one in asked:
            old = stands.get(one.name)
            if old and not force and old.seed == seed:
                bar(len(one.settings))
            else:
                stands[one.name] = old = find(one, seed, cores(jobs), bar)
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                write_json(folder / f"{one.name}.json", old.to_dict(), force=True)
            found.append(old)
    made = Theory(findings=tuple(found))
    if folder:
        shown = Theory(findings=tuple(stands[name] for name in every if name in stands))
        write_text(folder / PAGE, page(shown), force=True)
    elif out:
        made.save(out, force=force)
    return made


def _stands(folder: Path, every: "Mapping[str, Statement]") -> "dict[str, Finding]":
    """Read what stands in a folder, of the predictions of today; raises AlreadyExists, DamagedFile.

    Its words are those of today as well. AlreadyExists where it holds what is not ours.
    """
    from hardness.theory import Finding

    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise AlreadyExists(f"{folder} exists and is no folder: give another --out")
    ours = {PAGE, *(f"{name}.json" for name in every)}
    if foreign := sorted(one.name for one in folder.iterdir() if one.name not in ours):
        raise AlreadyExists(f"{folder} holds {foreign[0]}, which is not ours: give another --out")
    found = {one.stem: Finding.load(one) for one in folder.glob("*.json")}
    return {
        name: one.updated(**every[name].words)
        for name, one in found.items()
        if one.digest == every[name].digest
    }

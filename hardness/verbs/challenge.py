"""Challenges: made with a commitment, answered by anybody, scored when the secret is revealed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from hardness.verbs import progress, sources
from hardness.verbs.ask import choice, path, text, thing, whole
from hardness.verbs.asks import FORCE, LEARNER, SEED, Limits, budget_of, specs
from hardness.verbs.command import verb
from instances.errors import UsageError

if TYPE_CHECKING:
    from hardness.runs.submission import Score
    from instances import Family
    from instances.result import Answer

_FOLDER = path("The public folder of a challenge.")
_SECRET = path("The secret file")


@verb(
    "Write a public folder and a secret file.",
    out="Where to write: the public folder.  [required]",
    place="own",
    needs="--out DIR",
)
def create(
    source: Annotated["str | Family", thing("A SPEC.", specs)],
    *,
    out: Annotated[Path, path("The public folder.")],
    secret: Annotated[Path, _SECRET("where it goes, outside of --out; it is never overwritten.")],
    examples: Annotated[int, whole("Number of labelled examples: to learn from.")],
    fresh: Annotated[int, whole("Tokens to predict labels of.")] = 1024,
    deadline: Annotated[
        str, text("Any line of text; it becomes part of the challenge.", default="none")
    ] = "",
    tensors: Annotated[
        Any, choice("Format: of arrays.", *("safetensors", "npz"), flag="--format")
    ] = "safetensors",
    seed: Annotated[int | None, SEED(hidden=True)] = None,
    force: Annotated[bool, FORCE] = False,
) -> "Answer":
    """Write a challenge: a public folder --out, and the secret file that opens it.

    Secret, seed and nonce are drawn from the operating system, so --seed is refused.
    """
    from hardness.report.challenge import created_words
    from hardness.runs import challenge
    from instances.result import Answer

    if seed is not None:
        raise UsageError(
            "--seed given: a published seed reveals the secret, so a challenge draws its own from "
            "the operating system: leave it out"
        )
    family = sources.family(source)
    with progress.counted(examples, "generating") as bar:
        made = challenge.create(out, secret, family, examples, fresh, deadline, tensors, force, bar)
    data = {
        "challenge": made.id,
        "commitment": made.said.commitment,
        "spec": made.family.spec,
        "folder": str(out),
        "secret": str(secret),
        "examples": made.folder.count,
        "fresh": len(made.fresh),
        "deadline": made.said.deadline,
    }
    return Answer(data=data, told=created_words(made, secret))


@verb(
    "Pack predictions or a claimed secret.",
    out="Where to write: FILE.safetensors.  [required]",
    place="own",
    needs="--out FILE.safetensors",
)
def submit(
    folder: Annotated[Path, _FOLDER],
    *,
    name: Annotated[str, text("The participant's: plain ASCII, 64 characters.")],
    out: Annotated[Path, path("A file.", writes=True)],
    predictions: Annotated[
        Path | None,
        path("A .npy, .npz or .safetensors of (M, k, d) numbers for the fresh tokens."),
    ] = None,
    claim: Annotated[
        str | None,
        text('A claimed secret, "[2,5,7]": the entries, or the hidden set of a parity.'),
    ] = None,
    learner: Annotated[object, LEARNER("to run on the examples.")] = None,
    seed: Annotated[int, SEED] = 0,
    force: Annotated[bool, FORCE] = False,
    **limits: Unpack[Limits],
) -> "Answer":
    """Pack a submission to the challenge in FOLDER into the file --out, and print its digest."""
    from hardness.report.challenge import learned_words, submitted_words
    from hardness.runs import submission
    from hardness.runs.challenge import read_challenge
    from hardness.upper.isolated import SubprocessLearner, contain
    from hardness.upper.learner import innermost
    from instances.result import Answer

    if sum(given is not None for given in (predictions, claim, learner)) != 1:
        raise UsageError("give one of --predictions, --claim and --learner")
    submission.require_safetensors(out, force)
    found, outcome, contained, learned = read_challenge(folder), None, None, ""
    if predictions is not None:
        made = submission.by_predictions(found, name, predictions)
    elif claim is not None:
        made = submission.by_secret(found, name, claim)
    else:
        chosen = sources.learner(learner)
        made, ended, usage = submission.by_learner(found, name, chosen, budget_of(limits), seed)
        outcome = ended.value if ended else "ran to its end"
        if isinstance(innermost(chosen), SubprocessLearner):
            contained = contain.level()
        said = sources.text_of(learner) or chosen.name
        learned = learned_words(said, outcome, usage, contained)
    submission.write_submission(out, made, force)
    data = {
        "challenge": made.challenge,
        "name": made.name,
        "digest": made.digest,
        "file": str(out),
        "predictions": made.predictions is not None,
        "secret": None if made.secret is None else list(made.secret),
        "learner": sources.text_of(learner) or None,
        "outcome": outcome,
        "contained": contained,
    }
    return Answer(data=data, told=submitted_words(made, out, learned))


@verb(
    "Open the commitment, check all of it, score.",
    out="Where to write: the score, to a file.",
)
def score(
    folder: Annotated[Path, _FOLDER],
    submission: Annotated[
        Path | None, path("What a participant handed in; none: the challenge alone is checked.")
    ] = None,
    *,
    secret: Annotated[Path, _SECRET("as revealed.")],
) -> "Score":
    """Check that the secret file opens the challenge in FOLDER, and score a SUBMISSION.

    Every stored label and token is made again from the revealed secret. Exit code 3 where the
    commitment does not open, or anything stored is not of the secret.
    """
    from hardness.runs.challenge import read_challenge, reveal
    from hardness.runs.submission import read_submission, scored

    found = read_challenge(folder)
    handed = read_submission(submission, found) if submission else None
    with progress.counted(found.folder.count, "checking") as bar:
        return scored(reveal(found, secret, bar), handed)

"""Challenges: made with a commitment, answered by anybody, scored when the secret is revealed."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    EXAMPLES,
    LEARNER,
    POSITIVE,
    budget_options,
    complete_learner,
    emit,
    given_seed,
    moved,
    progress,
    shared,
    spec_argument,
)

_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.group(invoke_without_command=True, short_help="Commit to a secret, submit, reveal, score.")
@click.pass_context
def challenge(context: click.Context) -> None:
    """Challenges by commit and reveal.

    An organiser makes a public folder and a secret file, participants submit predictions or a
    claimed secret, and when the secret file is public anybody can score and check everything.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@challenge.command(short_help="Write a public folder and a secret file.")
@spec_argument
@click.option(
    "--secret",
    type=click.Path(path_type=Path),
    required=True,
    help="The secret file: where it goes, outside of --out; it is never overwritten.",
)
@click.option("--examples", type=POSITIVE, required=True, help=f"{EXAMPLES}: to learn from.")
@click.option(
    "--fresh", type=POSITIVE, default=1024, show_default=True, help="Tokens to predict labels of."
)
@click.option(
    "--deadline",
    default="",
    help="Any line of text; it becomes part of the challenge.  [default: none]",
)
@click.option(
    "--format",
    "tensors",
    type=click.Choice(["safetensors", "npz"]),
    default="safetensors",
    show_default=True,
    help="Format: of arrays.",
)
@shared("force", "quiet", out="Where to write: the public folder.  [required]")
def create(
    output: SimpleNamespace,
    spec: str,
    secret: Path,
    examples: int,
    fresh: int,
    deadline: str,
    tensors: Any,
) -> None:
    """Write a challenge: a public folder --out, and the secret file that opens it.

    Secret, seed and nonce are drawn from the operating system, so --seed is refused.
    """
    from hardness.report.challenge import created_words
    from hardness.runs.challenge import create as make
    from instances.spec import parse

    context = click.get_current_context()
    if given_seed(context, output) is not None:
        raise click.UsageError(
            "--seed given: a published seed reveals the secret, so a challenge draws its own from "
            "the operating system: leave it out"
        )
    if output.out is None:
        raise click.UsageError("challenge create needs --out DIR")
    with progress(examples, "generating", output) as bar:
        made = make(
            output.out, secret, parse(spec), examples, fresh, deadline, tensors, output.force, bar
        )
    data = {
        "challenge": made.id,
        "commitment": made.said.commitment,
        "spec": made.family.spec,
        "folder": str(output.out),
        "secret": str(secret),
        "examples": made.folder.count,
        "fresh": len(made.fresh),
        "deadline": made.said.deadline,
    }
    emit(output, data, created_words(made, secret), write=False)


@challenge.command(short_help="Pack predictions or a claimed secret.")
@_FOLDER
@click.option("--name", required=True, help="The participant's: plain ASCII, 64 characters.")
@click.option(
    "--predictions",
    type=click.Path(path_type=Path),
    help="A .npy, .npz or .safetensors of (M, k, d) numbers for the fresh tokens.",
)
@click.option(
    "--claim", help='A claimed secret, "[2,5,7]": the entries, or the hidden set of a parity.'
)
@click.option("--secret", hidden=True)
@click.option(
    "--learner", shell_complete=complete_learner, help=f"{LEARNER}: to run on the examples."
)
@budget_options
@shared("seed", "force", out="Where to write: FILE.safetensors.  [required]")
def submit(
    output: SimpleNamespace,
    folder: Path,
    name: str,
    predictions: Path | None,
    claim: str | None,
    secret: str | None,
    learner: str | None,
    budget: Any,
) -> None:
    """Pack a submission to the challenge in DIR into the file --out, and print its digest."""
    from hardness.report.challenge import submitted_words
    from hardness.runs import submission as lib
    from hardness.runs.challenge import read_challenge
    from hardness.upper import parse_learner
    from hardness.upper.isolated import SubprocessLearner, contain

    if secret is not None:
        moved("--secret", "--claim")
        claim = secret if claim is None else claim
    if sum(given is not None for given in (predictions, claim, learner)) != 1:
        raise click.UsageError("give one of --predictions, --claim and --learner")
    if output.out is None:
        raise click.UsageError("challenge submit needs --out FILE.safetensors")
    lib.require_safetensors(output.out, output.force)
    found, learned, outcome, contained = read_challenge(folder), "", None, None
    if predictions is not None:
        made = lib.by_predictions(found, name, predictions)
    elif claim is not None:
        made = lib.by_secret(found, name, claim)
    else:
        chosen = parse_learner(str(learner))
        made, ended, usage = lib.by_learner(found, name, chosen, budget, output.seed)
        outcome = ended.value if ended else "ran to its end"
        learned = f"{learner}: {outcome}, {usage.examples} examples, {usage.seconds:.2f} s"
        if isinstance(chosen, SubprocessLearner):
            contained = contain.level()
            learned += ", not contained" if contained == "off" else f", in {contained}"
    lib.write_submission(output.out, made, output.force)
    data = {
        "challenge": made.challenge,
        "name": made.name,
        "digest": made.digest,
        "file": str(output.out),
        "predictions": made.predictions is not None,
        "secret": None if made.secret is None else list(made.secret),
        "learner": learner,
        "outcome": outcome,
        "contained": contained,
    }
    emit(output, data, submitted_words(made, output.out, learned), write=False)


@challenge.command(short_help="Open the commitment, check all of it, score.")
@_FOLDER
@click.option(
    "--secret", type=click.Path(path_type=Path), required=True, help="The secret file: as revealed."
)
@click.argument("submissions", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--registered",
    multiple=True,
    help='"DIGEST NAME" as published in time, or a file of such lines; then no others count.',
)
@click.option(
    "--against", type=click.Path(path_type=Path), help="Earlier scores that must come out again."
)
@shared("force", "quiet", out="Where to write: the scores, to a file.", table="file")
def score(
    output: SimpleNamespace,
    folder: Path,
    secret: Path,
    submissions: tuple[Path, ...],
    registered: tuple[str, ...],
    against: Path | None,
) -> None:
    """Check that the secret file opens the challenge in DIR, and score SUBMISSIONS.

    Every stored label and token is made again from the revealed secret. Exit code 3 where the
    commitment does not open, anything stored is not of the secret, or --against does not hold.
    """
    from hardness.commands.options import refuse_existing_output
    from hardness.report.challenge import scores_words
    from hardness.runs import scores as lib
    from hardness.runs.challenge import read_challenge, reveal

    refuse_existing_output(output)
    earlier = lib.read_scores(against) if against else None
    listed = lib.read_digests(registered) if registered else earlier.registered if earlier else None
    found = read_challenge(folder)
    with progress(found.folder.count + len(submissions), "checking", output) as bar:
        opened = reveal(found, secret, bar)
        scores = lib.score(opened, submissions, listed, bar)
    if against and earlier is not None:
        lib.require_same(scores, earlier, against)
    data = scores.to_dict()
    emit(output, data, scores_words(scores, opened, against), table=data["entries"])

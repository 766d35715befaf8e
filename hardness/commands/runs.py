"""Learners at work on one family: a run, an attack, a distinguishing game, a spectrum."""

from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    CHANCE,
    CONFIDENCE,
    FILE,
    LEARNER,
    POSITIVE,
    SEEDS,
    Whole,
    budget_options,
    complete_learner,
    emit,
    go_on,
    progress,
    refuse_existing_output,
    resume_option,
    samples_option,
    shared,
    spec_argument,
    target,
    write_out,
)

TRIALS = "Number of trials, half of them with a member, half with coins"


@click.command(short_help="Does a learner tell labels from coins?")
@click.argument("learner", shell_complete=complete_learner)
@spec_argument
@click.option(
    "--trials",
    type=Whole(min=2),
    default=20,
    show_default=True,
    help=f"{TRIALS}.",
)
@click.option(
    "--confidence",
    type=CHANCE,
    default=0.95,
    show_default=True,
    help=CONFIDENCE,
)
@budget_options
@shared("seed", "jobs", "force", "quiet", out=FILE)
def distinguish(
    output: SimpleNamespace, learner: str, spec: str, trials: int, confidence: float, budget: Any
) -> None:
    """Play a learner against labels of a random member or coins, and report its advantage."""
    from hardness.report.distinction import distinction_words
    from hardness.runs import distinguish
    from hardness.runs.planned import require_loaded
    from hardness.upper import parse_learner
    from instances.spec import parse

    refuse_existing_output(output)
    require_loaded((learner,), spec)
    with progress(trials, "playing", output) as bar:
        found = distinguish(
            parse_learner(learner),
            parse(spec),
            trials,
            budget,
            output.seed,
            confidence=confidence,
            jobs=output.jobs,
            progress=bar,
        )
    emit(output, found.to_dict(), distinction_words(found), table=found)


@click.command(short_help="Look for the secret, over seeds.")
@spec_argument
@click.option(
    "--learner",
    "names",
    multiple=True,
    help=f"{LEARNER}: repeatable.  [default: all attacks that run on it]",
    shell_complete=complete_learner,
)
@click.option("--with", "more", multiple=True, hidden=True, shell_complete=complete_learner)
@click.option("--seeds", type=POSITIVE, default=3, show_default=True, help=f"{SEEDS}: of a SPEC.")
@samples_option
@budget_options
@resume_option
@shared("seed", "jobs", "force", "quiet", out=FILE)
def attack(
    output: SimpleNamespace,
    spec: str,
    names: tuple[str, ...],
    more: tuple[str, ...],
    seeds: int,
    of: str | None,
    budget: Any,
    resume: bool,
) -> None:
    """Look for the secret of fresh instances of a SPEC, or of a folder or a file of samples.

    A file is a table of integers (.txt, .csv, .prefix, .npy; n columns of A, then b), arrays A and
    b (.npz, .safetensors; b alone in .npy, A beside it), or a Darmstadt challenge (.txt).
    """
    from hardness.report.attack import attack_words
    from hardness.runs import attack, attacks_on, distinct, require_support
    from hardness.runs.attack import Attacks, out_of_reach
    from hardness.sweep.resumable import goes_on, resumable
    from hardness.upper import parse_learner
    from instances.capabilities import LINEAR_FORMS
    from instances.errors import ToolkitError, UsageError

    names += more
    output.force |= goes_on(output.out, resume)
    refuse_existing_output(output)
    family, folder = target(spec, of)
    chosen = distinct(names) if names else attacks_on(family)
    if not chosen:
        raise UsageError(f"no attack here runs on it: {LINEAR_FORMS.missing(family)}")
    stopped = {} if names else out_of_reach(family, chosen)
    chosen = tuple(name for name in chosen if name not in stopped) or chosen
    for name in names:
        require_support(parse_learner(name), family)  # before any of them starts
    found = []
    asked = {
        "command": "attack",
        "target": f"{spec} {of or ''}".strip() if folder else family.spec,
        "attacks": chosen,
        "seeds": [output.seed, seeds],
        "budget": vars(budget),
    }
    total = len(chosen) * (1 if folder else seeds)
    with resumable(output.out, asked, output.jobs, resume) as runs:
        try:
            with progress(total, "attacking", output) as bar:
                for name in chosen:
                    try:
                        one = attack(
                            name, folder or family, seeds, output.seed, budget, runs.do, bar
                        )
                        found.append(one)
                    except ToolkitError as error:
                        if names:
                            raise
                        stopped[name] = str(error)
        except KeyboardInterrupt as cut:
            raise click.Abort(
                f"interrupted{go_on(runs.kept, output)}" if runs.kept else ""
            ) from cut
        if not found:
            raise ToolkitError(next(iter(stopped.values())))
        every = Attacks(spec=family.spec, attacks=tuple(found), not_run=stopped)
        data = every.to_dict()
        write_out(output, data, every)
    emit(output, data, attack_words(found, stopped), write=False, table=every)


@click.command(short_help="Walsh spectrum of a member and of a hypothesis.")
@spec_argument
@click.option(
    "--learner",
    shell_complete=complete_learner,
    help=f"{LEARNER}.  [default: none, the member alone]",
)
@click.option(
    "--top", type=POSITIVE, default=5, show_default=True, help="Largest coefficients to show."
)
@click.option(
    "--draws",
    type=Whole(min=2),
    help="Number of draws: of X_1, for each z.  [default: all up to d = 11, then 16 or fewer]",
)
@budget_options
@shared("seed", "force", "quiet", out=FILE)
def spectrum(
    output: SimpleNamespace,
    spec: str,
    learner: str | None,
    top: int,
    draws: int | None,
    budget: Any,
) -> None:
    """Show the weight of a member by degree, and which part of it a learner has learned."""
    from hardness.report.spectrum import spectra_words
    from hardness.runs import spectra
    from hardness.runs.planned import require_loaded
    from hardness.upper import parse_learner

    refuse_existing_output(output)
    chosen = parse_learner(learner) if learner else None
    family, folder = target(spec)
    require_loaded(filter(None, (learner,)), family.spec)
    source = folder or family.instance(output.seed)
    with progress(1 << min(family.d - 1, 26), "tabulating", output) as bar:
        found = spectra(source, chosen, budget, output.seed, draws, bar)
    data = found.to_dict(top)
    emit(output, data, spectra_words(found, top), table=weight_rows(data))


def weight_rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Lay the weights by degree out as rows, of a member and of what was learned."""
    columns = {"target": data["target"]["weights"], "known": data["known"]["part"]}
    if data["learned"]:
        columns["hypothesis"] = data["hypothesis"]["weights"]
        columns |= {name: data["learned"][name] for name in ("part", "residual")}
    return [
        {"degree": degree, **dict(zip(columns, row, strict=True))}
        for degree, row in enumerate(zip(*columns.values(), strict=True))
    ]

"""Learners at work on one family: a run, an attack, a distinguishing game, a spectrum."""

from dataclasses import replace
from os.path import realpath
from pathlib import Path
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
    complete_spec,
    emit,
    given_seed,
    go_on,
    progress,
    refuse_existing_output,
    resume_option,
    samples_option,
    shared,
    spec_argument,
    target,
    tau_option,
    teacher_options,
    waiting,
    write_out,
)

TRIALS = "Number of trials, half of them with a member, half with coins"


@click.command(short_help="Run one learner on one instance.")
@click.argument("learner", shell_complete=complete_learner)
@click.argument("spec", required=False, shell_complete=complete_spec)
@samples_option
@teacher_options
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="Labels y of your data, where x is a .npy: a .npy too.  [default: none]",
)
@click.option(
    "--hold-out",
    type=CHANCE,
    help="Share of your data that is held out, for the misfit.  [default: 0.2]",
)
@click.option(
    "--oracle",
    type=click.Choice(["samples", "exact", "adversary", "stabbing"]),
    default="samples",
    show_default=True,
    help="How queries are answered; the adversary of the bound draws the secret at the end.",
)
@click.option(
    "--transcript",
    type=click.Path(path_type=Path),
    help="Write the game against the adversary to a file that `hardness check` plays again.  "
    "[default: no file]",
)
@click.option(
    "--save-layer",
    type=click.Path(path_type=Path),
    help="Write the layer to a file: .npz or .safetensors, as staged, levenberg or student found "
    "it.  [default: no file]",
)
@tau_option
@budget_options
@shared(
    "seed", "force", "quiet", out=FILE, seed="0; against the adversary, of the operating system"
)
@click.pass_context
def learn(
    context: click.Context,
    output: SimpleNamespace,
    learner: str,
    spec: str | None,
    of: str | None,
    teacher: dict[str, Any] | None,
    labels: Path | None,
    hold_out: float | None,
    oracle: Any,
    transcript: Path | None,
    save_layer: Path | None,
    tau: Any,
    budget: Any,
) -> None:
    """Run one learner on an instance of a SPEC, on tokens that a layer of yours labels, or on data.

    SPEC is also a folder of examples, a file of samples (a, b), or data of yours: x and y, both
    (n, k, d), in a .npz or .safetensors, in two .npy (--labels), or in a .parquet with a row a
    token, example, x0, x1, ..., y0, y1, ...

    Against the adversary the seed is drawn from the operating system, or given by --seed; it is 0
    otherwise. A given seed is public: who knows it and this code can compute the secret.
    """
    from hardness.front import own_data, require_unseen
    from hardness.report.run import game_words
    from hardness.runs import run
    from hardness.runs.planned import warm
    from hardness.upper import LAYERED, parse_learner
    from instances.capabilities import SCHEME
    from instances.disk import refuse_existing, refuse_unwritable, write_json

    refuse_existing_output(output)
    against = oracle in ("adversary", "stabbing")
    if transcript:
        if not against:
            raise click.UsageError("--transcript needs --oracle adversary or stabbing")
        if output.out and realpath(transcript) == realpath(output.out):
            raise click.UsageError("--out and --transcript name the same file: give two names")
        refuse_existing(transcript, output.force)
        refuse_unwritable(transcript)
    chosen = parse_learner(learner)
    if save_layer:
        if chosen.name not in LAYERED:
            raise click.UsageError(
                f"--save-layer is of {', '.join(LAYERED)}: {chosen.name} finds no layer"
            )
        if save_layer.suffix not in (".npz", ".safetensors"):
            raise click.UsageError(f"{save_layer} given: end its name in .npz or .safetensors")
        if output.out and realpath(save_layer) == realpath(output.out):
            raise click.UsageError("--out and --save-layer name the same file: give two names")
        refuse_existing(save_layer, output.force)
        refuse_unwritable(save_layer)
    read = (spec, labels, *((teacher["teacher"], teacher.get("tokens")) if teacher else ()))
    given = {realpath(one) for one in read if one}
    for one in (output.out, save_layer):
        if one and realpath(one) in given:
            raise click.UsageError(f"{one} given: the run reads it, give another name to write")
    own = own_data(None if teacher or of else spec, labels, hold_out, output.seed)
    if own:
        if oracle != "samples":
            raise click.UsageError(f"--oracle {oracle} given: data of yours answers no queries")
        require_unseen(chosen, spec, labels)
        announce(chosen, own.family, output)
        with waiting("learning", output):
            from hardness.runs.owndata import run_on_data

            warm("nice:m=1,k=2,d=6", (learner,))
            found = run_on_data(chosen, own, budget, output.seed)
        return learned(output, found, save_layer)
    instance, folder, details = None, None, dict[str, Any]()
    if teacher and spec is None and of is None:
        from hardness.runs.taught import taught

        require_unseen(chosen, teacher["teacher"])
        instance, details = taught(**teacher, seed=output.seed)
        family = instance.family
    elif spec is not None and not teacher:
        family, folder = target(spec, of)
    else:
        raise click.UsageError("learn needs a SPEC or --teacher FILE, one of the two")
    if transcript and (missing := SCHEME.missing(family)):
        raise click.UsageError(f"--transcript is of games that can be played again: {missing}")
    if against:
        from hardness.runs import play

        with waiting("playing", output):
            game = play(
                chosen, family, budget, given_seed(context, output), strategy=oracle, tau=tau
            )
        if transcript:
            write_json(transcript, game.transcript.to_dict(), force=output.force)
        return emit(output, game.to_dict(), game_words(game), table=game)
    source = instance or folder or family.instance(output.seed)
    announce(chosen, family, output)
    with waiting("learning", output):
        warm(family.example if instance else family.spec, (learner,))
        found = run(chosen, source, budget, output.seed, oracle=oracle, tau=tau)
    found = replace(found, details=found.details | details)
    return learned(output, found, save_layer)


def announce(learner: Any, family: Any, output: SimpleNamespace) -> None:
    """Say on stderr what a run will take, where that is worth a line."""
    from hardness.upper.learner import expected

    if not output.quiet and (takes := expected(learner, family)):
        click.echo(f"hardness: {learner.name} at d={family.d} takes {takes}", err=True)


def learned(output: SimpleNamespace, found: Any, save_layer: Path | None) -> None:
    """Print and write a run, and the layer that it found."""
    from hardness.report.run import run_words
    from hardness.runs.planned import not_loaded
    from hardness.upper.learner import Outcome
    from instances import files
    from instances.errors import ToolkitError

    if found.outcome is Outcome.NOT_LOADED:  # no run at all: what was named is wrong
        raise not_loaded(found.learner, found.details)
    emit(output, found.to_dict(), run_words(found), table=found)
    if save_layer:
        if found.layer is None:
            raise ToolkitError(f"no layer was found: {save_layer} was not written")
        files.save_layer(save_layer, found.layer)
        if not output.quiet:
            click.echo(f"hardness: {save_layer}: a layer of {found.layer.m} heads", err=True)


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

"""What instances cost to break, by formulas: one, a grid of them, the least that holds."""

from fractions import Fraction
from types import SimpleNamespace

import click

from hardness.commands.options import (
    FILE,
    POSITIVE,
    RATIONAL,
    SAMPLES,
    Number,
    emit,
    progress,
    refuse_existing_output,
    shared,
)


def _complete(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete families that attacks speak of, and names of parameter sets."""
    from hardness.cost.sets import SETS

    return [name for name in ("lwe:", "lwr:", "lpn:", "parity:", *SETS) if name.startswith(text)]


@click.command(short_help="What an instance costs to break, by formulas.")
@click.argument("spec", required=False, shell_complete=_complete)
@click.option(
    "--samples",
    type=POSITIVE,
    help=f"{SAMPLES}: (a, b), that an attacker has.  [default: samples= of the SPEC, those of a "
    "folder, what a set gives away, or any]",
)
@click.option(
    "--model",
    "models",
    multiple=True,
    help="Cost of lattice reduction: default (matzov), rough (adps16) or a model's name; several "
    "stand side by side.  [default: default]",
)
@click.option(
    "--success",
    type=RATIONAL,
    help="Success probability: that each attack is brought to, 0.5 and more.  [default: 0.99]",
)
@click.option("--shape", help="Shape of a reduced basis: gsa, zgsa, lgsa, cn11.  [default: gsa]")
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    help="The attack of a name, several times.  [default: all]",
)
@click.option(
    "--over",
    multiple=True,
    metavar="KEY=VALUES",
    help="A parameter's range: n=512..1024..128, q=2^20..2^40, h=32,64; several make a grid.  "
    "[default: one problem]",
)
@click.option(
    "--find",
    metavar="KEY=RANGE",
    help="The least n, h or sigma of a range, or the largest q, that has --bits.  [default: none]",
)
@click.option(
    "--bits",
    type=Number(exact=False, above=0),
    help="log2 of operations that --find looks for.  [required with --find]",
)
@click.option("--emit", "syntax", is_flag=True, help="Print the parameters for lattice-estimator.")
@click.option("--peer", is_flag=True, help="Run lattice-estimator beside, where it is installed.")
@shared("force", out=FILE)
def estimate(
    output: SimpleNamespace,
    spec: str | None,
    samples: int | None,
    models: tuple[str, ...],
    success: Fraction | None,
    shape: str | None,
    attacks: tuple[str, ...],
    over: tuple[str, ...],
    find: str | None,
    bits: float | None,
    syntax: bool,
    peer: bool,
) -> None:
    """Estimate what attacks cost on a SPEC, a named set, a folder or a file of samples.

    A SPEC of lwe or lwr may go beyond what families take: q=2^881 or any integer, p that does not
    divide q, secret=range, error=ternary. Without SPEC: list the named sets.
    """
    from hardness.cost import attacks as known
    from hardness.cost import bridge
    from hardness.cost import grid as grids
    from hardness.front import problem_of
    from hardness.report import cost as words

    refuse_existing_output(output)
    asked = {"--over": over, "--find": find, "--emit": syntax, "--peer": peer}
    ways = [name for name, value in asked.items() if value not in (None, (), False)]
    if len(ways) > 1:
        raise click.UsageError(f"{' and '.join(ways)} given: one of them at a time")
    if (find is None) != (bits is None):
        raise click.UsageError("--find and --bits go together: --find n=256..2048 --bits 128")
    if spec is None:
        if ways:
            raise click.UsageError(
                f"{ways[0]} given without a SPEC: lwe:.., lwr:.. or a set's name"
            )
        return emit(output, *words.sets_words())
    if peer and success is not None:
        raise click.UsageError("--peer and --success given: both stand at the peer's own level")
    level = known.SUCCESS if success is None else float(success)
    settings = tuple(known.setting(name, shape, level) for name in models or ("default",))
    if over or find is not None:
        text, counted = grids.words_of(spec, samples)
        if find is not None:
            found = grids.search(text, find, bits or 0.0, counted, settings, attacks)
            return emit(output, found.to_dict(), words.search_words(found), table=found)
        total = grids.size(over)
        with progress(total, "estimating", output) as bar:
            table = grids.grid(text, over, counted, settings, attacks, bar)
        return emit(output, table.to_dict(), words.grid_words(table), table=table)
    read = problem_of(spec, samples)
    if syntax:
        text = bridge.emit(read.problem)
        return emit(output, {"spec": read.spec, "parameters": text}, text)
    levels = bridge.LEVELS if peer else {}
    one = known.estimate(read.problem, read.spec, settings, attacks, read.family, read.name, levels)
    if peer:
        theirs = bridge.peer(read.problem, settings[0])
        beside = {**one.to_dict(), "peer": {e.name: e.to_dict() for e in theirs}}
        return emit(output, beside, words.peer_words(one, theirs))
    said = words.estimate_words(one)
    said += f"\n\n{words.attack_words(one)}" if attacks else ""
    emit(output, one.to_dict(), said, table=one)

"""The root of the commands: the table of them, in groups, and what it says of itself."""

from collections.abc import Mapping
from typing import Any

import click

from hardness.verbs.command import command
from instances.errors import UsageError, withdrawn
from instances.lazy import Imported

GROUPS = {
    "Families and instances": {
        "families": "verbs.families.list_families",
        "generate": "verbs.examples.generate",
        "inspect": "verbs.examples.inspect",
        "reduce": "verbs.examples.reduce",
    },
    "Lower bounds": {
        "certify": "verbs.bounds.certify",
        "bound": "verbs.bounds.bound",
        "check": "verbs.bounds.check",
        "verify": "verbs.bounds.verify",
        "estimate": "verbs.costs.estimate",
    },
    "Learners": {
        "learners": "verbs.families.list_learners",
        "learn": "verbs.learning.learn",
        "attack": "verbs.attacking.attack",
        "distinguish": "verbs.attacking.distinguish",
        "spectrum": "verbs.attacking.spectrum",
    },
    "Both sides": {
        "demo": "verbs.demo.demo",
        "compare": "verbs.comparing.compare",
        "least": "verbs.least.least",
        "stress": "verbs.comparing.stress",
        "sweep": "verbs.sweeping.sweep",
    },
    "In-context regression": {"icl": "verbs.root.ICL"},
    "Pages and pictures": {
        "report": "verbs.pictures.report",
        "figure": "verbs.pictures.draw_figure",
    },
}


class _Commands(Imported):
    """Commands by name; of a verb it is made of the function."""

    def __getitem__(self, name: str) -> click.Command:
        found = super().__getitem__(name)
        return found if isinstance(found, click.Command) else command(name, found)


class Group(click.Group):
    """A group that says of a command of a former version what serves instead."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named; raises UsageError for one that is gone."""
        if args[0] not in self.commands and (gone := withdrawn("command", args[0])):
            raise UsageError(gone)
        return super().resolve_command(ctx, args)


def _group(name: str, short: str, told: str, places: dict[str, str]) -> click.Group:
    """Make a command of several verbs, which alone prints its help."""

    @click.pass_context
    def alone(context: click.Context) -> None:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    several: Any = _Commands("hardness", places)
    return Group(
        name,
        commands=several,
        callback=alone,
        invoke_without_command=True,
        help=told,
        short_help=short,
    )


ICL = _group(
    "icl",
    "In-context regression by attention layers.",
    "In-context linear regression by layers of attention.\n\n"
    "A prompt has n labelled points (x, <w, x>) of a hidden task w and a query. Each command "
    "writes what it found as text or --json; --out DIR keeps results.json and figure.svg.",
    {name: f"verbs.icl.{name}" for name in ("optimum", "steps", "train", "curves")},
)

COMMANDS: Mapping[str, click.Command] = _Commands(
    "hardness", {name: place for group in GROUPS.values() for name, place in group.items()}
)

WELCOME = """\
Attention layers that are provably hard to learn: certified lower bounds on
statistical queries, and real learners on the very same instances.

Five commands to start with:

  hardness demo --out out
      the main job on small sizes in a minute; then look at out/report.html
  hardness certify parity:d=1000,m=21
      theorists: lower bounds in exact arithmetic, with all their conditions
  hardness attack lwe:n=30,q=521,sigma=1.5 --learner primal
      cryptanalysts: which attacks find the secret, and what that takes
  hardness learn staged nice:m=2,k=2,d=16
      one learner on one instance: its risk, its cost, and why it ended
  hardness stress --learner lowdegree --on parity:d=8,m=2 --on parity:d=16,m=3
      authors of learners: how far does yours climb? path.py:Name names it

hardness --help lists all commands, hardness COMMAND --help explains one.
hardness families and hardness learners list what a SPEC and a LEARNER may be.
README.md and docs/index.md say what the numbers mean."""


class Root(Group):
    """A group whose help lists its commands by subject."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of commands a subject, with their texts in one column."""
        widest = max(len(name) for name in self.commands)
        for title, names in GROUPS.items():
            rows = [(n.ljust(widest), self.commands[n].get_short_help_str(80)) for n in names]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=Root,
    commands=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="hardness-toolkit", prog_name="hardness")
@click.pass_context
def cli(context: click.Context) -> None:
    """Certify, verify and learn families of attention layers that are SQ-hard.

    A problem is named by a SPEC such as parity:d=32,m=3 or parity:d=32,m=3,noise=0.1, by a name of
    the catalog, or by a folder that `hardness generate` made.
    """
    if context.invoked_subcommand is None:
        click.echo(WELCOME)

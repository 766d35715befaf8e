"""The root command `hardness`: its commands in groups, and its help."""

from collections.abc import Mapping

import click

from hardness.cli.command import Group

GROUPS = {
    "Learners": {
        "learn": "learning.learn",
        "compare": "running.compare",
        "least": "running.least",
        "stress": "running.stress",
        "learners": "names.learners",
    },
    "Lower bounds": {
        "certify": "bounds.certify",
        "check": "bounds.check",
        "bound": "bounds.bound",
        "verify": "bounds.verify",
    },
    "LWE, LWR and LPN": {
        "attack": "running.attack",
        "estimate": "estimates.estimate",
        "reduce": "instances.reduce",
        "distinguish": "learning.distinguish",
    },
    "Families and instances": {
        "families": "names.families",
        "generate": "instances.generate",
        "inspect": "instances.inspect",
        "spectrum": "learning.spectrum",
    },
    "Many runs, reports and figures": {
        "demo": "demo.demo",
        "sweep": "running.sweep",
        "report": "figures.report",
        "figure": "figures.figure",
    },
    "In-context regression": {"icl": "root.ICL"},
}

ICL = Group(
    "icl",
    {name: f"icl.{name}" for name in ("optimum", "steps", "train", "curves")},
    help="In-context linear regression by layers of attention.\n\n"
    "A prompt has n labelled points (x, <w, x>) of a hidden task w and a query. Each command "
    "prints a table or --json; --out DIR keeps results.json and figure.svg.",
    short_help="In-context regression by attention layers.",
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
      authors of learners: how far does yours get? path.py:Name names it

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


@click.pass_context
def _welcome(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(WELCOME)


cli = Root(
    "cli",
    {name: place for group in GROUPS.values() for name, place in group.items()},
    callback=_welcome,
    help="Certify, verify and learn families of attention layers that are SQ-hard.\n\n"
    "A problem is named by a SPEC such as parity:d=32,m=3 or parity:d=32,m=3,noise=0.1, by a name "
    "of the catalog, or by a folder that `hardness generate` made.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
cli = click.version_option(package_name="hardness-toolkit", prog_name="hardness")(cli)
COMMANDS: Mapping[str, click.Command] = cli.commands

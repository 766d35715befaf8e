"""The root of the commands: the table of them, in groups, and what it says of itself."""

import click

from hardness.commands.bounds import certify, check, estimate, verify
from hardness.commands.challenge import challenge
from hardness.commands.comparisons import compare, noisy_map
from hardness.commands.examples import generate, inspect, reduction
from hardness.commands.families import families
from hardness.commands.icl import icl
from hardness.commands.learners import learners
from hardness.commands.measures import measures
from hardness.commands.pages import demo, figure, report
from hardness.commands.runs import attack, distinguish, learn, pairtest, spectrum
from hardness.commands.store import store
from hardness.commands.stress import stress
from hardness.commands.sweep import sweep

GROUPS = {
    "Families and instances": (families, generate, inspect, measures, reduction),
    "Lower bounds": (certify, check, verify, estimate),
    "Learners": (learners, learn, attack, distinguish, pairtest, spectrum),
    "Both sides": (demo, compare, noisy_map, stress, challenge),
    "Sweeps and stores": (sweep, store),
    "In-context regression": (icl,),
    "Pages and pictures": (report, figure),
}
COMMANDS = tuple(command for group in GROUPS.values() for command in group)

WELCOME = """\
Attention layers that are provably hard to learn: certified lower bounds on
statistical queries, and real learners on the very same instances.

Five commands to start with:

  hardness demo --out out
      the main job on small sizes in a minute; then look at out/report.html
  hardness certify parity:d=1000,m=21
      theorists: lower bounds in exact arithmetic, with all their conditions
  hardness attack lwe:n=30,q=521,sigma=1.5 --with primal
      cryptanalysts: which attacks find the secret, and what that takes
  hardness learn staged nice:m=2,k=2,d=16
      one learner on one instance: its risk, its cost, and why it ended
  hardness stress --learner lowdegree --on parity:d=8,m=2 --on parity:d=16,m=3
      authors of learners: how far does yours climb? path.py:Name names it

hardness --help lists all commands, hardness COMMAND --help explains one.
hardness families and hardness learners list what a SPEC and a LEARNER may be.
README.md and docs/index.md say what the numbers mean."""


class Root(click.Group):
    """A group whose help lists its commands by subject."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list of commands a subject, with their texts in one column."""
        widest = max(len(name) for name in self.commands)
        for title, commands in GROUPS.items():
            rows = [(str(c.name).ljust(widest), c.get_short_help_str(80)) for c in commands]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=Root,
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


for _command in COMMANDS:
    cli.add_command(_command)

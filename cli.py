"""The entry point: the root of the commands, and how each of them ends."""

import os
import sys
from typing import NoReturn

# One BLAS thread: results then do not depend on the number of cores, and pools do not fight.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import click

from hardness.commands.bounds import certify, check, estimate, verify
from hardness.commands.challenge import challenge
from hardness.commands.comparisons import compare, noisy_map
from hardness.commands.examples import generate, inspect, reduction
from hardness.commands.families import families
from hardness.commands.icl import icl
from hardness.commands.learners import learners
from hardness.commands.measures import measures
from hardness.commands.options import printable
from hardness.commands.pages import demo, figure, report
from hardness.commands.runs import attack, distinguish, learn, pairtest, spectrum
from hardness.commands.store import store
from hardness.commands.stress import stress
from hardness.commands.sweep import sweep

COMMANDS = (
    demo,
    families,
    learners,
    generate,
    inspect,
    reduction,
    certify,
    check,
    verify,
    estimate,
    measures,
    learn,
    attack,
    distinguish,
    pairtest,
    spectrum,
    compare,
    noisy_map,
    stress,
    sweep,
    challenge,
    store,
    icl,
    report,
    figure,
)


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="hardness-toolkit", prog_name="hardness")
@click.pass_context
def cli(context: click.Context) -> None:
    """Certify, verify and learn families of attention layers that are SQ-hard.

    A problem is named by a SPEC such as parity:d=32,m=3 or parity:d=32,m=3,noise=0.1, by a name of
    the catalog, or by a folder that `hardness generate` made.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 could not, 2 wrong usage, 3 refuted, 130 cut."""
    if sys.stdout is None or sys.stderr is None:
        sys.exit(1)
    try:
        code = cli.main(args=arguments, prog_name="hardness", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.UsageError as error:
        _complain(error.format_message(), 2)
    except click.ClickException as error:
        _complain(error.format_message(), 1)
    except (click.Abort, KeyboardInterrupt) as error:
        _complain(str(error) or "interrupted: nothing was left half-written", 130)
    except MemoryError:
        _complain("out of memory: ask for less", 1)
    except BrokenPipeError:
        _silence()
        sys.exit(1)
    except OSError as error:
        _silence()
        _complain(f"cannot read or write: {error}", 1)
    except Exception as error:
        from instances.errors import ToolkitError
        from instances.userfile import blame

        if isinstance(error, ToolkitError):
            _complain(str(error), error.exit_code)
        blamed = blame(error)
        if blamed is None:
            raise
        _complain(blamed, 1)


def _silence() -> None:
    """Keep Python from complaining again when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, code: int) -> NoReturn:
    click.echo("hardness: " + printable(" ".join(message.split())), err=True)
    sys.exit(code)


for _command in COMMANDS:
    cli.add_command(_command)

if __name__ == "__main__":
    main()

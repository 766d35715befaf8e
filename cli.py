"""The entry point: what a process needs before the commands, and how each of them ends."""

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

# One BLAS thread: results then do not depend on the number of cores, and pools do not fight.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_LONGEST = 2000  # characters of a complaint: it may quote what is in a file
_WRITING = 10.0  # seconds to write what is finished, in which another signal does nothing
INTERRUPTED = "interrupted: nothing was left half-written"

if sys.stderr is None:  # 2>&-: nothing else may take its place, here or in a child
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.set_inheritable(2, True)
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
try:  # Ctrl-C while modules are imported is an interrupt as any other
    import click

    from hardness.cli.root import cli
    from hardness.oracles import clock
    from instances.text import printable
except KeyboardInterrupt:
    print(f"hardness: {INTERRUPTED}", file=sys.stderr)
    sys.exit(130)

__all__ = ["cli", "main"]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 could not, 2 wrong usage, 3 refuted, 130 cut."""
    if sys.stdout is None:
        _complain("stdout is closed: send it to a file or to /dev/null", 1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # of letters that it cannot encode, the names
            stream.reconfigure(errors="namereplace")
    try:
        with _interrupted_by_signals():
            _run(arguments)
    except KeyboardInterrupt:  # while an error was being said
        _complain(INTERRUPTED, 130)


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Take SIGTERM, by which systems and clusters end a job, and SIGHUP for Ctrl-C.

    For some seconds a second one does not stop the writing of what is finished, and after that
    none does until the process has ended.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield
        return
    last: float | None = None

    def interrupt(number: int, frame: Any) -> None:
        nonlocal last
        if last is None or clock.now() - last > _WRITING:
            last = clock.now()
            raise KeyboardInterrupt

    names = ("SIGTERM", "SIGINT", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as nohup and shells in the background ask for
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        ending = last is not None  # Python leaves alone what is ignored, until the very end
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if ending else handler)


def _run(arguments: list[str] | None) -> NoReturn:
    try:
        code = cli.main(args=arguments, prog_name="hardness", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        _complain(_pointed(error), 2)
    except click.ClickException as error:
        _complain(error.format_message(), 1)
    except (click.Abort, KeyboardInterrupt) as error:
        _complain(str(error) or INTERRUPTED, 130)
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
        from instances.userfile import blame, misfit

        if isinstance(error, ToolkitError):
            _complain(str(error), error.exit_code)
        blamed = blame(error) or misfit(error)
        if blamed is None:
            raise
        _complain(blamed, 1)
    except BaseException as error:  # a SystemExit of a user's code
        loaded = sys.modules.get("instances.userfile")
        blamed = loaded.blame(error) if loaded else None
        if blamed is None:
            raise
        _complain(blamed, 1)
    sys.exit(code if isinstance(code, int) else 0)


def _pointed(error: click.UsageError) -> str:
    """Say what is wrong with the arguments, and where those of the command are listed."""
    said = error.format_message()
    if error.ctx is None or "`hardness " in said or "Did you mean" in said:
        return said
    return f"{said.rstrip('.')}: see `{error.ctx.command_path} -h`"


def _silence() -> None:
    """Keep Python from complaining again when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, code: int) -> NoReturn:
    line = printable(" ".join(message[: 2 * _LONGEST].split()))
    line = line if len(line) <= _LONGEST else line[:_LONGEST] + "..."
    click.echo(f"hardness: {line}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()

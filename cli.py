"""The command line: parse, call one function, print. Heavy modules are imported where used."""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

# One BLAS thread: results then do not depend on the number of cores, and pools do not fight.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import click  # noqa: E402

POSITIVE = click.IntRange(min=1)
NOT_BUILT = (
    "stress",
    "icl",
    "challenge",
    "sweep",
    "store",
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
        from instances.errors import ToolkitError
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        code = cli.main(args=arguments, prog_name="hardness", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.UsageError as error:
        _complain(error.format_message(), 2)
    except click.ClickException as error:
        _complain(error.format_message(), 1)
    except ToolkitError as error:
        _complain(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted: nothing was left half-written", 130)
    except MemoryError:
        _complain("out of memory: ask for less", 1)
    except BrokenPipeError:
        _silence()
        sys.exit(1)
    except OSError as error:
        _silence()
        _complain(f"cannot read or write: {error}", 1)
    except Exception as error:
        from instances.userfile import blame

        blamed = blame(error)
        if blamed is None:
            raise
        _complain(blamed, 1)


def _silence() -> None:
    """Keep Python from complaining again when it closes stdout."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str, code: int) -> NoReturn:
    click.echo("hardness: " + " ".join(message.split()), err=True)
    sys.exit(code)


def common(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that stand everywhere, as one argument `to`."""

    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
    @click.option("--json", "as_json", is_flag=True, help="JSON alone on stdout.")
    @click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="Where to write: a file; for demo, generate and compare a folder.",
    )
    @click.option("--force", is_flag=True, help="Replace what stands at --out.")
    @click.option("--jobs", type=POSITIVE, default=os.cpu_count() or 1, help="Processes.")
    @click.option("--quiet", is_flag=True, help="No progress bars.")
    @wraps(command)
    def wrapped(
        seed: int, as_json: bool, out: Path | None, force: bool, jobs: int, quiet: bool, **rest: Any
    ) -> Any:
        to = SimpleNamespace(
            seed=seed, as_json=as_json, out=out, force=force, jobs=jobs, quiet=quiet
        )
        return command(to=to, **rest)

    return wrapped


def emit(to: SimpleNamespace, data: Any, text: str, write: bool = True) -> None:
    """Print text or JSON, and write the JSON to --out."""
    click.echo(json.dumps(data, indent=1) if to.as_json else text)
    if write and to.out:
        from instances.disk import write_json

        write_json(to.out, data, force=to.force)


def early(to: SimpleNamespace) -> None:
    """Refuse an --out file that exists before any work is done."""
    if to.out:
        from instances.disk import refuse_existing, refuse_unwritable

        refuse_existing(to.out, to.force)
        refuse_unwritable(to.out)


@contextmanager
def progress(total: int, label: str, to: SimpleNamespace) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr for what takes over a second."""
    if to.quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    start, waiting, bar = time.monotonic(), 0, None
    made = click.progressbar(length=total, label=label, file=sys.stderr)

    def update(done: int) -> None:
        nonlocal waiting, bar
        waiting += done
        if bar is None and time.monotonic() - start > 1:
            bar = made.__enter__()
        if bar is not None:
            bar.update(waiting)
            waiting = 0

    try:
        yield update
    finally:
        if bar is not None:
            made.__exit__(None, None, None)


def rational(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    """Read an option's exact rational."""
    if value is None:
        return None
    from instances.parameters import fraction

    return fraction(value, f"--{parameter.name}")


def complete_spec(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete names of families and of the catalog."""
    from instances.catalog import CATALOG
    from instances.spec import FAMILIES

    return [n for n in [*(f + ":" for f in FAMILIES), *CATALOG] if n.startswith(text)]


def complete_learner(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete names of learners."""
    from hardness.upper import LEARNERS

    return [n for n in LEARNERS if n.startswith(text)]


spec_argument = click.argument("spec", shell_complete=complete_spec)
tau_option = click.option(
    "--tau", default="0.1", show_default=True, callback=rational, help="Tolerance of STAT."
)


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the three budgets, as one argument `budget`."""

    @click.option("--budget-examples", type=POSITIVE)
    @click.option("--budget-queries", type=POSITIVE)
    @click.option(
        "--budget-seconds",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        help="Looked at between draws and queries.",
    )
    @wraps(command)
    def wrapped(
        budget_examples: int | None,
        budget_queries: int | None,
        budget_seconds: float,
        **rest: Any,
    ) -> Any:
        from hardness.oracles import Budget

        budget = Budget(examples=budget_examples, queries=budget_queries, seconds=budget_seconds)
        return command(budget=budget, **rest)

    return wrapped


def target(text: str) -> Any:
    """Resolve SPEC|DIR to (family, folder or None)."""
    from instances.files import read_folder
    from instances.spec import parse

    try:
        exists = bool(text.strip()) and Path(text).exists()
    except (OSError, ValueError):  # too long, or a character that no path may have
        exists = False
    if not exists:
        return parse(text), None
    folder = read_folder(Path(text))
    return folder.family, folder


@cli.command(short_help="The main job on small sizes: certify to picture.")
@common
def demo(to: SimpleNamespace) -> None:
    """Do the main job on small sizes: certify, verify, learn, compare, draw."""
    from hardness.report.demo import demo, runs
    from hardness.report.words import demo_words

    out = to.out or Path("out")
    with progress(runs(), "running learners", to) as bar:
        made = demo(out, seed=to.seed, jobs=to.jobs, force=to.force, progress=bar)
    files = [str(out / name) for name in ("report.html", "results.json")]
    data = {
        "certificate": made.certificate.to_json(),
        "verification": made.verification.to_json(),
        "runs": [run.to_json() for run in made.comparison.runs],
        "files": files,
    }
    emit(to, data, f"{demo_words(made)}\nwritten: {', '.join(files)}", write=False)


@cli.command(short_help="List or show families and the catalog.")
@click.argument("action", default="list", type=click.Choice(["list", "show"]))
@click.argument("name", required=False, shell_complete=complete_spec)
@common
def families(to: SimpleNamespace, action: str, name: str | None) -> None:
    """List the families and the catalog, or show one."""
    from hardness.report.text import table
    from instances.catalog import CATALOG
    from instances.spec import FAMILIES, parse

    if action == "show":
        if not name:
            raise click.UsageError("families show needs the NAME of a family or a catalog entry")
        family = FAMILIES[name] if name in FAMILIES else parse(name)
        data: dict[str, Any] = {
            "name": family.name,
            "about": family.about,
            "example": family.example if name in FAMILIES else parse(name).spec,
            "labels": family.label_text,
            "parameters": parameters(family),
            "revision": family.revision,
        }
        entry = CATALOG.get(name)
        if entry:
            data |= {"catalog": name, "entry": entry.about, "source": entry.source}
        lines = [f"{name}: {entry.about} [{entry.source or 'ours'}]"] if entry else []
        lines += [f"{data['name']}: {data['about']}", f"example: {data['example']}"]
        lines += [f"labels: {data['labels']}", "", table(*parameter_rows(data["parameters"]))]
        return emit(to, data, "\n".join(lines))
    data = {
        "families": [
            {"name": f.name, "about": f.about, "example": f.example} for f in FAMILIES.values()
        ],
        "catalog": [{"name": n, "spec": e.spec, "about": e.about} for n, e in CATALOG.items()],
    }
    rows = [[f["name"], f["example"], f["about"]] for f in data["families"]]
    named = [[c["name"], c["spec"], c["about"]] for c in data["catalog"]]
    text = table(["family", "example", "what"], rows) + "\n\n"
    return emit(to, data, text + table(["catalog", "spec", "what"], named))


@cli.command(short_help="List or show learners.")
@click.argument("action", default="list", type=click.Choice(["list", "show", "check", "new"]))
@click.argument("name", required=False, shell_complete=complete_learner)
@common
def learners(to: SimpleNamespace, action: str, name: str | None) -> None:
    """List the learners, or show one."""
    from hardness.report.text import table
    from hardness.upper import LEARNERS, parse_learner
    from instances.errors import ToolkitError

    if action in ("check", "new"):
        raise ToolkitError(f"learners {action} is not built yet: there are list and show")
    if action == "show":
        if not name:
            raise click.UsageError("learners show needs the NAME of a learner")
        learner = type(parse_learner(name))
        data: dict[str, Any] = {
            "name": learner.name,
            "about": learner.about,
            "access": learner.access,
            "parameters": parameters(learner),
            "revision": learner.revision,
        }
        text = f"{learner.name}: {learner.about}\nsees: {learner.access}\n\n"
        return emit(to, data, text + table(*parameter_rows(data["parameters"])))
    data = {
        "learners": [
            {"name": x.name, "access": x.access, "about": x.about} for x in LEARNERS.values()
        ]
    }
    rows = [[x["name"], x["access"], x["about"]] for x in data["learners"]]
    return emit(to, data, table(["learner", "sees", "what"], rows))


def parameters(kind: Any) -> list[dict[str, str]]:
    """Describe the fields of a family or learner."""
    from dataclasses import MISSING, fields

    from instances.parameters import plain

    return [
        {
            "name": f.name,
            "type": getattr(f.type, "__name__", str(f.type)),
            "default": "required" if f.default is MISSING else plain(f.default),
        }
        for f in fields(kind)
    ]


def parameter_rows(found: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Lay parameters out as a table's header and rows."""
    return ["parameter", "type", "default"], [[p["name"], p["type"], p["default"]] for p in found]


@cli.command(short_help="Write an instance and examples to a folder.")
@spec_argument
@click.option("--examples", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--format",
    "tensors",
    type=click.Choice(["safetensors", "npz"]),
    default="safetensors",
    show_default=True,
)
@click.option("--layer", "with_layer", is_flag=True, help="Also write the weights (secret).")
@common
def generate(to: SimpleNamespace, spec: str, examples: int, tensors: Any, with_layer: bool) -> None:
    """Write an instance, its secret part and its first examples to a folder."""
    from instances.files import write_folder
    from instances.spec import parse

    if to.out is None:
        raise click.UsageError("generate needs --out DIR")
    with progress(examples, "generating", to) as bar:
        folder = write_folder(
            to.out, parse(spec).instance(to.seed), examples, tensors, to.force, with_layer, bar
        )
    data = {
        "spec": folder.family.spec,
        "folder": str(folder.path),
        "examples": folder.count,
        "shards": [shard.file for shard in folder.shards],
        "commitments": folder.public.commitments,
    }
    text = (
        f"{folder.path}: {folder.family.spec}, {folder.count} examples in "
        f"{len(folder.shards)} files\npublic part instance.json, secret part secret.json"
    )
    emit(to, data, text, write=False)


@cli.command(short_help="Heads, norms and coherence of a layer.")
@spec_argument
@common
def inspect(to: SimpleNamespace, spec: str) -> None:
    """Show what a layer is like: heads, norms, how alike its heads are."""
    from hardness.report.words import inspection_words
    from instances.inspect import inspect

    early(to)
    family, folder = target(spec)
    data = inspect(family, folder.instance if folder else family.instance(to.seed))
    emit(to, data, inspection_words(data))


@cli.command(short_help="Certify lower bounds of a family.")
@click.argument("source", shell_complete=complete_spec)
@tau_option
@click.option(
    "--vstat",
    type=POSITIVE,
    default=100,
    show_default=True,
    help="t of VSTAT(t); --tau does not change it.",
)
@click.option(
    "--risk",
    default="1/4",
    show_default=True,
    callback=rational,
    help="Relative risk to reach: 1 is knowing the family alone, 0 all.",
)
@click.option(
    "--success", default="2/3", show_default=True, callback=rational, help="Success probability."
)
@click.option(
    "--gamma",
    default="0.05",
    show_default=True,
    callback=rational,
    help="Average correlation of unit-norm members that SDA is about.",
)
@click.option("--centred", is_flag=True, help="Finite: subtract the mean of the members first.")
@click.option(
    "--method",
    type=click.Choice(["enumeration", "sampling"]),
    help="Finite: how functions and layers are correlated.  [default: by size]",
)
@click.option("--samples", type=POSITIVE, default=200_000, show_default=True, help="Of sampling.")
@click.option(
    "--confidence", default="0.99", show_default=True, callback=rational, help="Of sampling."
)
@click.option(
    "--steps",
    type=click.IntRange(min=0),
    help="Finite: limit of each search for members.  [default: by size]",
)
@common
def certify(
    to: SimpleNamespace,
    source: str,
    tau: Any,
    vstat: int,
    risk: Any,
    success: Any,
    gamma: Any,
    **how: Any,
) -> None:
    """Certify lower bounds; --json prints, --out writes what `hardness check` accepts.

    SOURCE is a SPEC, a folder of `hardness generate`, or a finite family: functions of a Python
    file (path.py:Name), a folder of layers, or a list of specs (NAME.specs).
    """
    from hardness.lower import Terms, certify
    from hardness.lower.finite import certify_finite, read_source
    from hardness.report.words import certificate_words

    early(to)
    terms = Terms(tau=tau, vstat=vstat, risk=risk, success=success, gamma=gamma)
    finite = read_source(source)
    chosen = chosen_finite(source, finite, how, to.seed)
    if finite is None:
        made = certify(target(source)[0], terms)
    else:
        with progress(chosen.points(finite), "evaluating members", to) as bar:
            made = certify_finite(finite, terms, chosen, bar)
    emit(to, made.to_json(), certificate_words(made))


def chosen_finite(source: str, finite: Any, how: dict[str, Any], seed: int) -> Any:
    """Refuse options that do not apply to a source, and collect the others."""
    from hardness.lower.finite import How, options

    context = click.get_current_context()
    given = {
        name
        for name in ("vstat", "gamma", *how)
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    chosen = How(**how, seed=seed)
    wrong = sorted(given - {"tau", "risk", "success"} - options(finite, chosen))
    if wrong:
        what = "a spec or an instance" if finite is None else chosen.what(finite)
        raise click.UsageError(f"--{wrong[0]} does not apply to {source[:80]}: it is {what}")
    return chosen


@cli.command(short_help="Check a certificate or a transcript again.")
@click.argument("file", type=click.Path(path_type=Path))
@common
def check(to: SimpleNamespace, file: Path) -> None:
    """Derive a certificate's claims again, or play a transcript again; exit 3 if one fails."""
    from hardness.check import check
    from hardness.report.words import checked_words
    from instances.disk import read_json
    from instances.errors import DamagedFile, Refuted

    early(to)
    data = read_json(file)
    try:
        found = check(data)
    except Refuted as error:
        emit(to, {"file": str(file), "accepted": False, "reason": str(error)}, "REFUSED")
        raise Refuted(f"{file}: {error}") from error
    except DamagedFile as error:
        raise DamagedFile(f"{file}: {error}") from error
    data = {
        "file": str(file),
        "accepted": True,
        "spec": found.spec,
        "statements": list(found.statements),
    }
    emit(to, data, checked_words(found))


@cli.command(short_help="Sampled against certified correlations.")
@spec_argument
@click.option("--members", type=POSITIVE, default=500, show_default=True)
@click.option("--samples", type=POSITIVE, default=200_000, show_default=True)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.99,
    show_default=True,
)
@common
def verify(to: SimpleNamespace, spec: str, members: int, samples: int, confidence: float) -> None:
    """Sample correlations against the certified ones, and the real layer against the formula."""
    from hardness.lower import verify
    from hardness.report.words import verification_words

    early(to)
    family, folder = target(spec)
    with progress(samples, "sampling", to) as bar:
        found = verify(family, members, samples, confidence, to.seed, folder, bar)
    emit(to, found.to_json(), verification_words(found))
    found.require()


@cli.command(short_help="Run one learner on one instance.")
@click.argument("learner", shell_complete=complete_learner)
@spec_argument
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
    help="Write the game against the adversary to a file that `hardness check` plays again.",
)
@tau_option
@budget_options
@common
def learn(
    to: SimpleNamespace,
    learner: str,
    spec: str,
    oracle: Any,
    transcript: Path | None,
    tau: Any,
    budget: Any,
) -> None:
    """Run one learner on one instance."""
    from hardness.compare import play, run
    from hardness.report.words import game_words, run_words
    from hardness.upper import parse_learner
    from instances.disk import refuse_existing, refuse_unwritable, write_json

    early(to)
    against = oracle in ("adversary", "stabbing")
    if transcript:
        if not against:
            raise click.UsageError("--transcript needs --oracle adversary or stabbing")
        if to.out and transcript.absolute() == to.out.absolute():
            raise click.UsageError("--out and --transcript name the same file: give two names")
        refuse_existing(transcript, to.force)
        refuse_unwritable(transcript)
    chosen = parse_learner(learner)
    family, folder = target(spec)
    if against:
        game = play(chosen, family, budget, to.seed, strategy=oracle, tau=tau)
        if transcript:
            write_json(transcript, game.transcript.to_json(), force=to.force)
        return emit(to, game.to_json(), game_words(game))
    found = run(chosen, folder or family.instance(to.seed), budget, to.seed, oracle=oracle, tau=tau)
    emit(to, found.to_json(), run_words(found))


@cli.command(name="reduce", short_help="LWR/LWE samples to attention examples, and back.")
@click.argument("direction", type=click.Choice(["lwr-to-attention", "attention-to-lwr"]))
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--spec", shell_complete=complete_spec, help="The family of plain arrays (a, b).")
@common
def reduction(to: SimpleNamespace, direction: str, source: Path, spec: str | None) -> None:
    """Turn samples of LWR, LWE or LPN into attention examples, no secret known, or back.

    lwr-to-attention: SOURCE is a file of samples (.npz, .safetensors or the text of a Darmstadt
    challenge), --out a folder. attention-to-lwr: SOURCE is a folder of examples, --out a file of
    samples (.npz, .safetensors or .txt).
    """
    from instances.files import read_folder, write_public_folder
    from instances.reduce import to_attention
    from instances.samplefile import (
        read_samples,
        secret_beside,
        write_samples,
        write_secret,
    )
    from instances.samples import as_modular, samples
    from instances.spec import parse_stored

    if to.out is None:
        raise click.UsageError("reduce needs --out: a folder of examples, or a file of samples")
    if direction == "attention-to-lwr":
        early(to)
        folder = read_folder(source)
        as_modular(folder.family)
        found = samples(folder.examples(0, folder.count))
        shown = f"{len(found)} samples of {folder.count} examples"
        if folder.hidden:
            apart, hidden = secret_beside(to.out), folder.hidden
            write_secret(apart, found, hidden.secret, hidden.seed, force=to.force)
            shown += f"; the secret in {apart}"
        write_samples(to.out, found, force=to.force)
    else:
        found = read_samples(source, as_modular(parse_stored(spec)) if spec else None)
        made = write_public_folder(to.out, to_attention(found, to.seed), force=to.force)
        shown = f"{made.count} examples of {len(found)} samples"
    data = {"spec": found.family.spec, "samples": len(found), "written": str(to.out)}
    emit(to, data, f"{to.out}: {found.family.spec}, {shown}", write=False)


@cli.command(short_help="Does a learner tell labels from coins?")
@click.argument("learner", shell_complete=complete_learner)
@spec_argument
@click.option(
    "--trials",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="Half of them with a member, half with coins: an even number.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
)
@budget_options
@common
def distinguish(
    to: SimpleNamespace, learner: str, spec: str, trials: int, confidence: float, budget: Any
) -> None:
    """Play a learner against labels of a random member or coins, and report its advantage."""
    from hardness.compare import distinguish
    from hardness.report.distinction import distinction_words
    from hardness.upper import parse_learner
    from instances.spec import parse

    early(to)
    with progress(trials, "playing", to) as bar:
        found = distinguish(
            parse_learner(learner),
            parse(spec),
            trials,
            budget,
            to.seed,
            confidence=confidence,
            jobs=to.jobs,
            progress=bar,
        )
    emit(to, found.to_json(), distinction_words(found))


@cli.command(short_help="Look for the secret, over seeds.")
@spec_argument
@click.option(
    "--with",
    "names",
    multiple=True,
    help="An attack, NAME or NAME:key=value,...; repeatable.  [default: all that run on it]",
    shell_complete=complete_learner,
)
@click.option("--seeds", type=POSITIVE, default=3, show_default=True, help="Of a SPEC.")
@budget_options
@common
def attack(to: SimpleNamespace, spec: str, names: tuple[str, ...], seeds: int, budget: Any) -> None:
    """Look for the secret of fresh instances of a SPEC, or of a folder; beside what it may cost."""
    from hardness.compare import attack, attacks_on, distinct, require_support
    from hardness.report.siege import siege_words
    from hardness.upper import parse_learner
    from instances.errors import ToolkitError

    early(to)
    family, folder = target(spec)
    chosen = distinct(names) if names else attacks_on(family)
    if not chosen:
        raise click.ClickException(f"no attack here runs on {family.spec}")
    for name in names:
        require_support(parse_learner(name), family)  # before any of them starts
    found, stopped = [], dict[str, str]()
    with progress(len(chosen) * (1 if folder else seeds), "attacking", to) as bar:
        for name in chosen:
            try:
                found.append(attack(name, folder or family, seeds, to.seed, budget, to.jobs, bar))
            except ToolkitError as error:
                if names:
                    raise
                stopped[name] = str(error)
    if not found:
        raise ToolkitError(next(iter(stopped.values())))
    data = {
        "spec": family.spec,
        "attacks": [one.to_json() for one in found],
        "not_run": stopped,
    }
    emit(to, data, siege_words(found, stopped))


@cli.command(short_help="What an instance costs to break, by formulas.")
@spec_argument
@click.option(
    "--samples",
    type=POSITIVE,
    help="That an attacker may have.  [default: what a name of the catalog gives away, or any]",
)
@common
def estimate(to: SimpleNamespace, spec: str, samples: int | None) -> None:
    """Estimate what the known attacks cost on a SPEC or a folder, and which is the least."""
    from hardness.lower import estimate
    from hardness.report.cost import estimate_words
    from instances.catalog import published_samples

    early(to)
    found = estimate(target(spec)[0], samples or published_samples(spec))
    emit(to, found.to_json(), estimate_words(found))


@cli.command(short_help="Walsh spectrum of a member and of a hypothesis.")
@spec_argument
@click.option("--learner", shell_complete=complete_learner, help="NAME or NAME:key=value,...")
@click.option(
    "--top", type=POSITIVE, default=5, show_default=True, help="Largest coefficients to show."
)
@click.option(
    "--draws",
    type=click.IntRange(min=2),
    help="Draws of X_1 for each z.  [default: all of them up to d = 11, then 16 or fewer]",
)
@budget_options
@common
def spectrum(
    to: SimpleNamespace, spec: str, learner: str | None, top: int, draws: int | None, budget: Any
) -> None:
    """Show the weight of a member by degree, and which part of it a learner has learned."""
    from hardness.compare import spectra
    from hardness.report.spectrum import spectra_words
    from hardness.upper import parse_learner

    early(to)
    chosen = parse_learner(learner) if learner else None
    family, folder = target(spec)
    source = folder or family.instance(to.seed)
    with progress(1 << min(family.d - 1, 26), "tabulating", to) as bar:
        found = spectra(source, chosen, budget, to.seed, draws, bar)
    emit(to, found.to_json(top), spectra_words(found, top))


@cli.command(short_help="Learners beside certified bounds, over sizes.")
@spec_argument
@click.option("--over", required=True, help="A parameter's range: d=8..20, d=8..20..4, d=8,12.")
@click.option(
    "--learner",
    "names",
    multiple=True,
    help="NAME or NAME:key=value,...; repeatable.  [default: a few that run on the family]",
    shell_complete=complete_learner,
)
@click.option("--seeds", type=POSITIVE, default=3, show_default=True)
@tau_option
@budget_options
@common
def compare(
    to: SimpleNamespace,
    spec: str,
    over: str,
    names: tuple[str, ...],
    seeds: int,
    tau: Any,
    budget: Any,
) -> None:
    """Run learners over a range of sizes beside the certified bounds; --out writes a folder."""
    from hardness.compare import Cut, compare, distinct, usual, values_of
    from hardness.compare.results import to_json
    from hardness.lower import Terms
    from hardness.report.demo import write_results
    from hardness.report.text import comparison_table
    from instances.disk import new_folder, refuse_foreign, refuse_unwritable
    from instances.errors import ToolkitError

    ours = ("results.json", "report.html", "figure.svg")
    if to.out:
        refuse_foreign(to.out, to.force, ours)
        refuse_unwritable(to.out)
    names = names or usual(spec, over)
    total = len(values_of(over)[1]) * len(distinct(names)) * seeds
    command = shlex.join(["hardness", *sys.argv[1:]])
    terms = Terms(tau=tau)

    def keep(found: Any) -> None:
        if to.out:
            with new_folder(to.out, force=to.force, ours=ours) as folder:
                write_results(folder, found)

    try:
        with progress(total, "running learners", to) as bar:
            found = compare(spec, over, names, seeds, to.seed, budget, terms, to.jobs, command, bar)
    except Cut as cut:
        why, done = cut.__cause__, ""
        if to.out and cut.comparison.values:
            keep(cut.comparison)
            done = f"; {cut} and are kept in {to.out}"
        if isinstance(why, ToolkitError):
            raise type(why)(f"{why}{done}") from cut
        _complain(f"interrupted{done or ': nothing was left half-written'}", 130)
    keep(found)
    emit(to, to_json(found), comparison_table(found), write=False)


@cli.command(short_help="Write the page of a comparison.")
@click.argument("source", type=click.Path(path_type=Path))
@common
def report(to: SimpleNamespace, source: Path) -> None:
    """Write the page of a comparison: SOURCE is the folder of `compare` or its results.json."""
    from hardness.compare import read_comparison
    from hardness.report import page
    from instances.disk import write_text

    if to.out is None:
        raise click.UsageError("report needs --out FILE")
    early(to)
    found = read_comparison(source)
    write_text(to.out, page(found), force=to.force)
    data = {"source": str(source), "report": str(to.out), "runs": len(found.runs)}
    emit(to, data, f"{to.out}: {len(found.runs)} runs", write=False)


FIGURES = (
    "correlations",
    "eigenvalues",
    "sda",
    "adversary",
    "stages",
    "dial",
    "attacks",
    "training",
    "walsh",
)


@cli.command(short_help=f"Draw one of {', '.join(FIGURES)}.")
@click.argument("name", type=click.Choice(FIGURES))
@click.argument("source", shell_complete=complete_spec)
@common
def figure(to: SimpleNamespace, name: str, source: str) -> None:
    """Draw a figure of a SPEC, or of a file.

    correlations, eigenvalues, sda, walsh: SOURCE is a SPEC. adversary: a transcript. stages: the
    file of `hardness learn staged SPEC --out FILE`. dial: the folder of a `compare` with the
    learner staged. attacks, training: that of a `compare` of an LWE-style family. --out FILE.svg,
    .png or .pdf holds the picture; --json prints the numbers in it.
    """
    from hardness.report.figures import draw, numbers
    from instances.disk import write_bytes

    if to.out is None and not to.as_json:
        raise click.UsageError("figure needs --out FILE.svg, .png or .pdf, or --json")
    kind = to.out.suffix.lstrip(".").lower() if to.out else "svg"
    if kind not in ("svg", "png", "pdf"):
        raise click.UsageError(f"--out {to.out} given: a name that ends in .svg, .png or .pdf")
    early(to)
    of_family = name in ("correlations", "eigenvalues", "sda", "walsh")
    data = numbers(name, target(source)[0] if of_family else Path(source))
    if to.out:
        write_bytes(to.out, draw(name, data, kind), force=to.force)
    emit(to, data, f"{to.out}: {name} of {data['spec']}", write=False)


BUILT = sorted(cli.commands)


def not_built(name: str) -> click.Command:
    """Make the command of something that is planned: it takes anything and exits 1."""

    @click.command(
        name,
        help="Not built yet.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        hidden=True,
    )
    @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
    def command(rest: tuple[str, ...]) -> NoReturn:
        raise click.ClickException(f"{name} is not built yet: there are {', '.join(BUILT)}")

    return command


for _name in NOT_BUILT:
    cli.add_command(not_built(_name))

if __name__ == "__main__":
    main()

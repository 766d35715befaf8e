"""Lower bounds: certified, checked again, verified by sampling."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.about import about_options, asked_about, refuse_unasked
from hardness.commands.options import (
    CHANCE,
    CONFIDENCE,
    FILE,
    MEMBERS,
    POSITIVE,
    RATIONAL,
    SAMPLES,
    STEPS,
    WHOLE,
    complete_spec,
    emit,
    progress,
    refuse_existing_output,
    shared,
    target,
    tau_option,
)


@click.command(short_help="Certify lower bounds of a family.")
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
    type=RATIONAL,
    help="Relative risk to reach: 1 is knowing the family alone, 0 all.",
)
@click.option(
    "--success", default="2/3", show_default=True, type=RATIONAL, help="Success probability."
)
@click.option(
    "--gamma",
    default="0.05",
    show_default=True,
    type=RATIONAL,
    help="Average correlation of unit-norm members that SDA is about.",
)
@click.option(
    "--members",
    type=POSITIVE,
    help=f"{MEMBERS}: of functions of a file, those whose names have the least SHA-256.  "
    "[default: all]",
)
@click.option(
    "--centred", is_flag=True, help="Subtract the mean of the members first: of functions."
)
@click.option(
    "--steps",
    type=WHOLE,
    help=f"{STEPS}: gd, gradients seen; functions, of each search for members.  [default: by size]",
)
@click.option(
    "--proof", is_flag=True, help="Print the proof step by step, where the kernel takes it."
)
@about_options
@shared("force", "quiet", out="Where to write: the certificate, to a file.", table="file")
def certify(
    output: SimpleNamespace,
    source: str,
    about: SimpleNamespace,
    proof: bool,
    tau: Any,
    vstat: int,
    risk: Any,
    success: Any,
    gamma: Any,
    **how: Any,
) -> None:
    """Certify lower bounds; --json prints, --out writes what `hardness check` accepts.

    SOURCE is a SPEC, a folder of `hardness generate`, or functions of a Python file
    (path.py:Name). With --about: what is said about kernels, gradient descent (one of --noise-std,
    --within, --grid, --batch) or polynomials of low degree, for --risk and --success where they are
    learners.
    """
    from hardness.front import certifiable, certified
    from hardness.lower import BoundParameters
    from hardness.lower.members import Members
    from hardness.report.certificate import certificate_words
    from hardness.report.proof import proof_words

    refuse_existing_output(output)
    if proof and output.form:
        why = f"--format {output.form}: it is text for people"
        raise click.UsageError(f"--proof does not apply to {why}")
    terms = BoundParameters(tau=tau, vstat=vstat, risk=risk, success=success, gamma=gamma)
    if about.name:
        certificate = about_certificate(source, about, how, terms)
    else:
        refuse_unasked(about)
        what, more = certifiable(source, how["members"]), (how["centred"], how["steps"])
        size = len(what.names) << what.n if isinstance(what, Members) else 0
        with progress(size, "evaluating members", output) as bar:
            certificate = certified(source, what, terms, _given(*how), *more, bar)
    words = (proof_words if proof else certificate_words)(certificate) + _written(output)
    emit(output, certificate.to_dict(), words, table=certificate)


def _written(output: SimpleNamespace) -> str:
    """Say what --out holds, and where it is no certificate how to get one."""
    if output.out is None:
        return ""
    if output.written == "json":
        return f"\n\nwritten: {output.out}, which `hardness check` reads"
    return f"\n\nwritten: {output.out}, a table; a certificate is written by --out FILE.json"


def about_certificate(source: str, about: SimpleNamespace, how: dict[str, Any], terms: Any) -> Any:
    """Certify what is said about named learners."""
    from hardness.lower.learners import certify_named, certify_posed, pose_functions
    from hardness.lower.members import read_members
    from hardness.lower.record import NoClaim
    from instances.capabilities import SCHEME

    wrong = ("tau", "vstat", "gamma", "centred")
    for name in sorted(_given(*wrong), key=wrong.index):
        raise click.UsageError(f"--{name} does not apply to --about {about.name}")
    finite = read_members(source, how["members"])
    if how["members"] is not None and not (finite and finite.kind == "functions"):
        raise click.UsageError(f"--members does not apply to {source[:80]}: it is no functions")
    if finite is None:
        family = target(source)[0]
        asked = asked_about(about, how["steps"], SCHEME.of(family))
        return certify_named(family, asked, terms)
    asked = asked_about(about, how["steps"], None)
    made = certify_posed(pose_functions(finite), asked, terms)
    if made.vacuous:
        raise NoClaim(f"no claim: {source[:80]} given: every bound is vacuous at these options")
    return made


def _given(*names: str) -> set[str]:
    """Name the options that were given."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    return {name for name in names if context.get_parameter_source(name) is not default}


@click.command(short_help="Check a certificate or a transcript again.")
@click.argument("file", type=click.Path(path_type=Path))
@shared("force", out=FILE)
def check(output: SimpleNamespace, file: Path) -> None:
    """Check the proof of a certificate, or play a transcript again; exit 3 if it fails."""
    from hardness.check import check
    from hardness.report.certificate import checked_words
    from instances.errors import DamagedFile, Refuted
    from instances.strict import CERTIFICATE, read_json

    refuse_existing_output(output)
    data = read_json(file, CERTIFICATE)
    try:
        found = check(data)
    except Refuted as error:
        emit(output, {"file": str(file), "accepted": False, "reason": str(error)}, "REFUSED")
        raise Refuted(f"{file}: {error}") from error
    except DamagedFile as error:
        raise DamagedFile(f"{file}: {error}") from error
    emit(output, {"file": str(file), **found.to_dict()}, checked_words(found), table=found)


@click.command(short_help="Cite a certificate: sentence and BibTeX.")
@click.argument("file", type=click.Path(path_type=Path))
@shared("force", out="Where to write: FILE.bib, the BibTeX, or FILE.json.")
def cite(output: SimpleNamespace, file: Path) -> None:
    """Check a certificate, and print a sentence and BibTeX for a paper; exit 3 if refused.

    The key and the entry name the file by its SHA-256: a reader who has it can check it again.
    """
    from hardness.report.citation import cite
    from instances.disk import write_text

    bib = bool(output.out) and output.out.suffix.lower() == ".bib"
    if output.out and not bib and output.out.suffix.lower() != ".json":
        raise click.UsageError(f"--out {output.out} given: end its name in .bib or .json")
    refuse_existing_output(output)
    found = cite(file)
    if bib:
        write_text(output.out, f"{found.bibtex}\n", force=output.force)
    emit(output, found.to_dict(), f"{found.sentence}\n\n{found.bibtex}", write=not bib)


@click.command(short_help="Sampled correlations beside certified ones.")
@click.argument("source", shell_complete=complete_spec)
@click.option(
    "--members", type=POSITIVE, default=500, show_default=True, help=f"{MEMBERS}: drawn at random."
)
@click.option("--samples", type=POSITIVE, default=200_000, show_default=True, help=f"{SAMPLES}.")
@click.option(
    "--confidence",
    type=CHANCE,
    default=0.99,
    show_default=True,
    help=CONFIDENCE,
)
@shared("seed", "force", "quiet", out=FILE)
def verify(
    output: SimpleNamespace, source: str, members: int, samples: int, confidence: float
) -> None:
    """Sample correlations beside the certified ones, and the real layer against the formula.

    SOURCE: a SPEC, a folder of `hardness generate`, functions of a file, path.py:Name, or a folder
    of layers. Prints as well the empirical SQ dimension, which bounds no number of queries.
    """
    from hardness.front import verifiable
    from hardness.lower import verify
    from hardness.report.certificate import verification_words

    refuse_existing_output(output)
    found, folder = verifiable(source, members)
    with progress(samples, "sampling", output) as bar:
        made = verify(found, members, samples, confidence, output.seed, folder, bar)
    emit(output, made.to_dict(), verification_words(made), table=made)
    made.require()

"""Stores: what they hold, as tables, put together, checked and recovered."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import FILE, emit, refuse_existing_output, shared

_FORMATS = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}
_DB = click.argument("db", metavar="DB", type=click.Path(path_type=Path))


@click.group(
    invoke_without_command=True,
    short_help="Show, export, query, merge, recover stores.",
)
@click.pass_context
def store(context: click.Context) -> None:
    """Stores: SQLite files of runs, certificates and data of figures, as sweeps write them.

    Any tool that reads SQLite reads the tables runs, certificates, figures and sweeps.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@store.command(short_help="What a store holds.")
@_DB
@shared("force", out=FILE)
def show(output: SimpleNamespace, db: Path) -> None:
    """Count what a store holds, by learner and outcome; also while a sweep writes it."""
    from dataclasses import asdict

    from hardness.report.store import outcome_rows, store_words
    from hardness.sweep.store import read

    refuse_existing_output(output)
    with read(db) as found:
        sweeps, summary = found.sweeps(), found.summary()  # a sweep that goes on has more by then
    counts = summary["outcomes"]
    data = {**summary, "sweeps": [asdict(sweep) for sweep in sweeps]}
    text = store_words(str(db), summary, sweeps)
    emit(output, data, text, table=outcome_rows(counts))


@store.command(short_help="The runs as CSV, JSON or Parquet.")
@_DB
@click.option(
    "--format",
    "form",
    type=click.Choice(list(_FORMATS)),
    help="Format.  [default: as the name of --out ends]",
)
@click.option(
    "--comparable",
    is_flag=True,
    help="Without times, memory and machine, and without runs that these ended.",
)
@shared("force", out="Where to write: a file .csv, .json or .parquet.  [required]")
def export(output: SimpleNamespace, db: Path, form: Any, comparable: bool) -> None:
    """Write the runs of a store to --out in an order that depends on them alone.

    With --comparable the files of two stores with equal results are equal byte for byte. In CSV a
    text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    from hardness.report.text import count
    from hardness.sweep.export import export as write
    from hardness.sweep.store import read

    if not output.out:
        raise click.UsageError("store export needs --out FILE")
    ending = output.out.suffix.lower().removeprefix(".")
    if not form and ending not in _FORMATS:
        raise click.UsageError(
            f"--out {output.out} given: end its name in .csv, .json or .parquet, or say --format"
        )
    form = form or ending
    refuse_existing_output(output)
    with read(db) as found:
        done = write(found, output.out, form, comparable, output.force)
    data = {"runs": done.runs, "left_out": done.left_out, "format": form, "out": str(output.out)}
    left = f", {done.left_out} not reproducible left out" if done.left_out else ""
    said = f"written: {output.out} ({_FORMATS[form]}): {count(done.runs, 'run')}{left}"
    emit(output, data, said, write=False)


@store.command(short_help="Ask in SQL; nothing can be changed.")
@_DB
@click.argument("sql", metavar="SELECT")
@click.option("--csv", "as_csv", is_flag=True, help="CSV on stdout, as --format csv.")
@shared("force", out="Where to write: the answer, to a file.", table="file")
def query(output: SimpleNamespace, db: Path, sql: str, as_csv: bool) -> None:
    """Answer one SELECT over the tables runs, certificates, figures and sweeps.

    Parameters of specs are read as parameters->>'d', those of learners as
    learner_parameters->>'degree': SELECT parameters->>'d' AS d, sum(passed) FROM runs GROUP BY d
    """
    from hardness.report.store import answer_lines, answer_table
    from hardness.sweep.store import read

    if as_csv and output.form not in (None, "csv"):
        raise click.UsageError("store query takes --csv or --json, one of the two")
    if as_csv:
        output.form = "csv"
    refuse_existing_output(output)
    with read(db) as found:
        names, rows = found.query(sql)
    if (output.form or output.out) and len(set(names)) < len(names):
        raise click.UsageError("two columns have one name, which no format can hold: use AS")
    lines = answer_lines(names, rows)
    emit(output, lines, answer_table(names, rows), table=lines)


@store.command(short_help="Put stores together to a new one.")
@_DB
@click.argument("others", metavar="[DB]...", nargs=-1, type=click.Path(path_type=Path))
@shared(out="Where to write: the new store.  [required]")
def merge(output: SimpleNamespace, db: Path, others: tuple[Path, ...]) -> None:
    """Write all that stores hold to the new store --out; contradictions are refused.

    With one store alone it is a copy of it, of this version.
    """
    from hardness.report.store import store_words
    from hardness.sweep.figures import merge_stores
    from hardness.sweep.store import read

    out = _new(output, "merge")
    merge_stores(db, others, out)
    with read(out) as found:
        summary, sweeps = found.summary(), found.sweeps()
    emit(output, summary, "written: " + store_words(str(out), summary, sweeps), write=False)


@store.command(short_help="Check every page, and that every row reads.")
@_DB
@shared("force", out=FILE)
@click.pass_context
def check(context: click.Context, output: SimpleNamespace, db: Path) -> None:
    """Check a store; exits 1 where it is damaged.

    A number in a row that was changed for another is not seen: what matters is run again.
    """
    from hardness.sweep.recover import check as look
    from hardness.sweep.store import recover_with

    refuse_existing_output(output)
    found = look(db)
    data = {
        "damaged": found is not None,
        "records": {table: len(names) for table, names in found.rows.items()} if found else {},
        "rows": {table: names[:20] for table, names in found.rows.items()} if found else {},
        "pages": list(found.pages) if found else [],
    }
    said = f"{db} is damaged: {found}; {recover_with(db)}" if found else f"{db}: all is well"
    emit(output, data, said)
    context.exit(1 if found else 0)


@store.command(short_help="Recover a damaged store to a new one.")
@_DB
@shared(out="Where to write: the new store.  [required]")
def recover(output: SimpleNamespace, db: Path) -> None:
    """Write every row of a damaged store that can still be read to --out NEW.db."""
    from dataclasses import asdict

    from hardness.report.store import recovered_words
    from hardness.sweep.recover import recover as write

    out = _new(output, "recover")
    found = write(db, out)
    emit(output, asdict(found), recovered_words(found, str(out)), write=False)


def _new(output: SimpleNamespace, name: str) -> Path:
    """Take --out as the name of a new store, which takes no other's place."""
    if not output.out:
        raise click.UsageError(f"store {name} needs --out NEW.db")
    if output.force:
        raise click.UsageError(f"store {name} never replaces a store: leave out --force")
    refuse_existing_output(output)
    out: Path = output.out
    return out

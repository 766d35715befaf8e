"""The tables of a store, its views, and how an older store becomes one of this version.

Texts that repeat (specs, learners, budgets, versions) stand once, in tables of their own with what
can be read off them; a run is a small row that refers to them. The views put them together again,
for any tool that reads SQLite.
"""

import sqlite3

APPLICATION_ID = 0x48524431  # "HRD1"
VERSION = 2

# The columns of every table in their order. `id` is the row's number; a digest is of the record.
NAMES = {
    "spec": "id text digest family parameters",
    "learner": "id text digest name parameters",
    "budget": "id text digest examples queries seconds cpu_seconds memory_bytes",
    "context": "id text digest machine versions hardness numpy python family_revision "
    "learner_revision",
    "ending": "id text digest outcome bound reproducible",
}
COLUMNS = {
    name: tuple(columns.split())
    for name, columns in {
        **NAMES,
        "run": "id key digest spec learner budget context ending seed attempts passed "
        "secret_recovered risk risk_low risk_high risk_confidence risk_unclipped risk_examples "
        "examples queries peak_bytes seconds details",
        "certificate": "id key digest spec terms certificate",
        "part": "id whole digest number content",
        "whole": "id key digest kind spec content arrays",
        "array": "id whole digest name content",
        "figure": "id name digest data written",
        "sweep": "id sha256 digest name text engine slots state planned done failed started "
        "updated remaining_seconds base_seeds",
    }.items()
}
_UNIQUE = {
    **dict.fromkeys(NAMES, "text, digest"),
    "run": "key",
    "certificate": "key",
    "part": "whole, number",
    "whole": "key",
    "array": "whole, name",
    "figure": "name",
    "sweep": "sha256",
}

_RUNS = """
CREATE VIEW runs AS SELECT
    lower(hex(run.key)) AS key,
    spec.text AS spec, spec.family, spec.parameters,
    learner.text AS learner, learner.name AS learner_name,
    learner.parameters AS learner_parameters,
    run.seed,
    budget.examples AS budget_examples, budget.queries AS budget_queries,
    budget.seconds AS budget_seconds, budget.cpu_seconds AS budget_cpu_seconds,
    budget.memory_bytes AS budget_memory_bytes,
    ending.outcome, run.passed, ending.reproducible, ending.bound,
    run.risk, run.risk_low, run.risk_high, run.risk_confidence, run.risk_examples,
    run.risk_unclipped,
    run.examples, run.queries, run.secret_recovered, run.details,
    context.family_revision, context.learner_revision,
    run.seconds, run.peak_bytes, run.attempts,
    context.machine, context.versions
FROM run
    JOIN spec ON spec.id = run.spec
    JOIN learner ON learner.id = run.learner
    JOIN budget ON budget.id = run.budget
    JOIN context ON context.id = run.context
    JOIN ending ON ending.id = run.ending
"""
VIEWS = {
    "runs": _RUNS,
    "certificates": """
CREATE VIEW certificates AS SELECT
    lower(hex(certificate.key)) AS key, spec.text AS spec, spec.family, spec.parameters,
    certificate.terms, certificate.certificate
FROM certificate JOIN spec ON spec.id = certificate.spec
""",
    "figures": "CREATE VIEW figures AS SELECT name, data, written FROM figure",
    "sweeps": """
CREATE VIEW sweeps AS SELECT
    name, state, engine, slots, planned, done, failed, started, updated, remaining_seconds,
    base_seeds, sha256, text
FROM sweep
""",
    "wholes": """
CREATE VIEW wholes AS SELECT
    lower(hex(whole.key)) AS key, whole.kind, spec.text AS spec, spec.family, spec.parameters,
    whole.content, whole.arrays
FROM whole JOIN spec ON spec.id = whole.spec
""",
}

MIGRATIONS: dict[int, tuple[str, ...]] = {  # by the version they start from
    # Runs by learner and outcome are counted in this index alone, a tenth of what rows take.
    1: ("CREATE INDEX run_status ON run (learner, ending)",),
}


def make(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty file, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for name, columns in COLUMNS.items():
        rest = ", ".join(f"{c}{_kind(name, c)}" for c in columns[1:])
        connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, {rest})")
    for name, unique in _UNIQUE.items():
        connection.execute(f"CREATE UNIQUE INDEX {name}_unique ON {name} ({unique})")
    for view in VIEWS.values():
        connection.execute(view)
    for start in sorted(MIGRATIONS):
        for statement in MIGRATIONS[start]:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, found: int) -> None:
    """Bring a store of an older version to this one, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for start in range(found, VERSION):
        for statement in MIGRATIONS[start]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _kind(table: str, column: str) -> str:
    """Name the type of a column where it may be NULL; NOT NULL for the others.

    Columns have no affinity, so that a record holds what was written: a float is 8 bytes.
    """
    optional = column.startswith(("risk", "remaining"))
    optional |= column == "secret_recovered" or table in NAMES
    return "" if optional and column not in ("text", "digest") else " NOT NULL"

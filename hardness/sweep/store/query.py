"""Answering SQL that somebody typed, of which nothing may write, load or leave the store."""

import sqlite3
from pathlib import Path
from typing import Any

from hardness.sweep.store.connect import told
from instances.errors import UsageError
from instances.strict import one_line

_ALLOWED = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
_LONGEST_VALUE = 1 << 26  # bytes
_MOST_BYTES = 1 << 28  # of an answer
_STEPS = 1 << 20  # between two looks at the keyboard
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)


def answer(
    connection: sqlite3.Connection, path: Path, sql: str, most: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Answer a SELECT with at most so many rows; raises UsageError for what is none, or too much.

    >>> answer(sqlite3.connect(":memory:"), Path("x"), "SELECT 1 AS one", 10)
    (['one'], [(1,)])
    """
    connection.set_authorizer(_authorize)
    longest = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    # Python looks at the keyboard in this call only: without it Ctrl-C would wait for the answer.
    connection.set_progress_handler(lambda: 0, _STEPS)
    try:
        cursor = connection.execute(sql)
        if cursor.description is None:
            raise UsageError(f"'{sql[:80]}' given: one SELECT is needed")
        return [column[0] for column in cursor.description], _rows(cursor, most)
    except (sqlite3.Error, sqlite3.Warning) as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGED:
            with told(path):
                raise
        said = one_line(error, 160)
        raise UsageError(f"'{_short(sql)}' cannot be answered: {said}{_advice(said)}") from error
    except UnicodeError as error:
        raise UsageError(f"'{_short(sql)}' cannot be answered: {error}") from error
    finally:
        connection.set_authorizer(None)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        connection.set_progress_handler(None, 0)


def _authorize(action: int, one: str | None, two: str | None, *_: Any) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and two == "load_extension"
    return sqlite3.SQLITE_OK if action in _ALLOWED and not loads else sqlite3.SQLITE_DENY


def _rows(cursor: sqlite3.Cursor, most: int) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        size += sum(len(v) if isinstance(v, str | bytes) else 8 for v in row)
        if len(rows) == most or size > _MOST_BYTES:
            raise UsageError(
                f"the answer has more than {len(rows)} rows: add LIMIT, or use `hardness store "
                "export`"
            )
        rows.append(row)
    return rows


def _short(sql: str) -> str:
    return " ".join(sql.split())[:80]


def _advice(said: str) -> str:
    if any(word in said for word in ("authoriz", "prohibited", "readonly", "cannot modify")):
        return ": a store is read here, by SELECT alone"
    if "no such" in said:
        views = ": there are the views runs, certificates, wholes, figures and sweeps"
        return f"{views}; a parameter of a spec is parameters->>'d'" if "column" in said else views
    return ""

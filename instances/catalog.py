"""Named instances: short names for specs that are worth naming, as catalog.toml lists them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """A name's spec and what it is for.

    samples: how many samples the published set gives to an attacker; None for any number. source:
    a key in docs/references.md.
    """

    spec: str
    about: str
    samples: int | None = None
    source: str = ""


@cache
def catalog() -> Mapping[str, CatalogEntry]:
    """Return all entries by their names.

    >>> catalog()["darmstadt-40-005"].spec, catalog()["saber"].samples
    ('lwe:n=40,q=1601,alpha=0.005', 768)
    """
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {name: CatalogEntry(**table) for name, table in tables.items()}

"""Results whose fields are their JSON, so that files of results are read with typed fields."""

import math
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec

from instances import numbers
from instances.arguments import located
from instances.disk import damage, read_json, require_format
from instances.result import Result


class Record(Result, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A result whose fields are its JSON, in their order: the class is the reader and the writer.

    A field may have another name in JSON: `msgspec.field(name=...)`. What is computed from the
    fields is a property or a `cached_property`. `to_dict` may add it, but `filed` leaves it out and
    `read` ignores it. Ranges are declared by `Annotated[int, msgspec.Meta(ge=0)]` or checked in
    `__post_init__`, which raises ValueError. A damaged value is then refused with its place, as
    `$.runs[3].seed`. A subclass is declared with `frozen=True, kw_only=True`, and with a `_format`
    if it is stored in files.

    >>> class Count(Record, frozen=True, kw_only=True):
    ...     share: Fraction
    ...     most: float | None = None
    >>> Count(share=Fraction(1, 2), most=math.inf).to_dict()
    {'share': '0.5', 'most': None}
    >>> Count.read({"share": "1/3"}).share
    Fraction(1, 3)
    """

    _format: ClassVar[str] = ""  # of its files, "hardness-results/3"
    _kept: ClassVar[str] = "runs"  # what the rows of its file of runs are called
    _inside: ClassVar[str] = ""  # the name of its file in a folder that a command wrote
    _unfiled: ClassVar[tuple[str, ...]] = ()  # fields that are not written to JSON

    def filed(self) -> dict[str, Any]:
        """Return the content of its file: the fields as JSON, with the format."""
        names = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        data = {
            key: json_of(getattr(self, name)) for key, name in names if name not in self._unfiled
        }
        return {"format": self._format, **data} if self._format else data

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON, with what a subclass computes from them."""
        return self.filed()

    def updated(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    @classmethod
    def read(cls, data: Any) -> Self:
        """Read what `to_dict` or `filed` wrote, without the key "format".

        Raises ValueError with the place of a damaged value.
        """
        if isinstance(data, dict) and (extra := [name for name in cls._unfiled if name in data]):
            raise ValueError(f"it has the field {extra[0]!r}, which no file holds")
        return msgspec.convert(data, cls, dec_hook=_parsed)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read the file that `save` wrote, or the folder of a command; raises DamagedFile."""
        where = Path(located("path", path))
        if cls._inside and where.is_dir():
            where /= cls._inside
        data = read_json(where)
        if cls._format:
            require_format(data, cls._format, where)
            del data["format"]
        with damage(where):
            if "format" in data:
                raise ValueError(f"it is of the format {data['format']}, and none is known here")
            return cls.read(data)


def json_of(value: Any) -> Any:
    """Convert a value to JSON types: a Fraction to text, and an infinite or NaN float to None.

    >>> json_of({"a": (Fraction(1, 10), math.inf)})
    {'a': ['0.1', None]}
    """
    match value:
        case float():
            return value if math.isfinite(value) else None
        case str() | int() | None:
            return value.value if isinstance(value, Enum) else value
        case Result():
            return value.to_dict()
        case Mapping():
            return {name: json_of(part) for name, part in value.items()}
        case list() | tuple():
            return [json_of(part) for part in value]
        case Enum():
            return value.value
        case Fraction():
            return numbers.write(value)
        case msgspec.Struct():
            names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
            return {key: json_of(getattr(value, name)) for key, name in names}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return {one.name: json_of(getattr(value, one.name)) for one in fields(value)}  # a dataclass


def _parsed(kind: type[Any], value: Any) -> Any:
    """Read a Fraction, which msgspec does not know."""
    if kind is not Fraction:
        raise NotImplementedError
    return numbers.parse(str(value), Fraction, "a number")

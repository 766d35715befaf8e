"""Instances, examples and layers on disk.

A folder contains instance.json (public), secret.json (secret) and shards of packed examples, each
with a hash of its content.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from instances.arrayfile import read_arrays, write_tensors
from instances.coded import Coded
from instances.disk import SECRET, damage, new_folder, read_json, require_format, write_json
from instances.errors import DamagedFile, TooLarge, UsageError
from instances.family import REFERENCE_EXAMPLES, Examples, Family, Hidden, Instance, Public, Source
from instances.layer import LAYER, AttentionLayer
from instances.limits import readable_bytes, require_disk
from instances.spec import parse_stored, require_stored

TensorFormat = Literal["npz", "safetensors"]
PUBLIC, EXAMPLES = (f"hardness-{kind}/1" for kind in ("instance", "examples"))
_SHARD_BYTES = _REFERENCE_BYTES = 1 << 25
_FOLDER_FILES = ("instance.json", "secret.json", "examples-*", "secret-layer.*")


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """One file of examples: its name, the number of examples, and the SHA-256 of their bytes."""

    file: Annotated[str, Meta(pattern=r"^examples-[0-9]{5,9}\.(npz|safetensors)\Z")]
    count: Annotated[int, Meta(ge=1)]
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class _StoredExamples(msgspec.Struct, frozen=True, kw_only=True):
    """The entry `examples` of instance.json: the shards and the number of examples."""

    count: int
    shards: tuple[Shard, ...]


class _PublicFile(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of instance.json."""

    format: str = PUBLIC
    spec: str
    revision: int
    k: int
    d: int
    labels: str
    commitments: dict[str, str]
    reference: dict[str, Any]
    examples: _StoredExamples


class _SecretFile(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of secret.json."""

    format: str = SECRET
    spec: str
    secret: tuple[int, ...]
    seed: int
    nonce: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Folder:
    """A folder that `generate` made; `hidden` is None if it has no secret part."""

    path: Path
    public: Public
    hidden: Hidden | None
    shards: tuple[Shard, ...]

    @property
    def family(self) -> Family:
        """The family of the instance."""
        return self.public.family

    @property
    def count(self) -> int:
        """The number of stored examples."""
        return sum(shard.count for shard in self.shards)

    @property
    def instance(self) -> Instance | None:
        """The instance; None without the secret part."""
        return Instance(family=self.family, hidden=self.hidden) if self.hidden else None

    def examples(self, start: int, count: int) -> Examples:
        """Read stored examples start .. start+count-1, fewer if the folder ends before."""
        parts: list[Examples] = []
        first = 0
        for shard in self.shards:
            low, high = max(start, first), min(start + count, first + shard.count)
            if low < high:
                parts.append(self.shard(shard).cut(low - first, high - first))
            first += shard.count
        tensors = {
            name: np.concatenate([part.tensors[name] for part in parts]) if parts else value[:0]
            for name, value in self.public.reference.tensors.items()
        }
        return self.family.restore(tensors, sum(map(len, parts)))

    def shard(self, shard: Shard) -> Examples:
        """Read one shard and compare it with its hash; raises DamagedFile."""
        path = self.path / shard.file
        tensors, meta = read_arrays(path)
        require_format(meta or {}, EXAMPLES, path)
        try:
            examples = self.family.restore(tensors, shard.count)
        except ValueError as error:
            raise DamagedFile(f"{path} {error}") from error
        if content_hash(examples) != shard.sha256:
            raise DamagedFile(f"{path} has changed: its content does not match instance.json")
        return examples


@dataclass(frozen=True, kw_only=True, eq=False)
class MemoryFolder(Folder):
    """Examples in memory, of an unknown secret, with the interface of a folder.

    notes: how they were read, in words.
    """

    loaded: Examples
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of examples."""
        return len(self.loaded)

    def examples(self, start: int, count: int) -> Examples:
        """Return examples start .. start+count-1, fewer if there are no more."""
        return self.loaded.cut(start, min(start + count, self.count))

    @classmethod
    def of_examples(cls, path: Path, examples: Examples, **fields: Any) -> Self:
        """Wrap examples that were read from the file `path`; fields: further fields by name."""
        reference = examples.cut(0, min(len(examples), REFERENCE_EXAMPLES))
        public = Public(family=examples.family, commitments={}, reference=reference)
        return cls(path=path, public=public, hidden=None, shards=(), loaded=examples, **fields)


def content_hash(examples: Examples) -> str:
    """Return the SHA-256 of the stored arrays of examples, one after another, little-endian."""
    digest = hashlib.sha256()
    for value in examples.tensors.values():
        little = value.dtype.newbyteorder("<")
        digest.update(np.ascontiguousarray(value, little).tobytes())
    return digest.hexdigest()


def write_folder(
    path: Path,
    instance: Instance | MemoryFolder,
    count: int = 0,
    tensors: TensorFormat = "safetensors",
    force: bool = False,
    with_layer: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Folder:
    """Write an instance and its first `count` examples, in bounded memory; all or nothing.

    Examples of an unknown secret get no secret part, and the first few of them are the reference.
    `progress` is called with the number of examples written since its last call. Raises
    AlreadyExists, TooLarge.
    """
    family, public, hidden = instance.family, instance.public, None
    which = "an instance" if isinstance(instance, Instance) else "examples"
    require_stored(family, f"{which} of it cannot be stored in a folder")
    if REFERENCE_EXAMPLES * family.bytes_per_example > _REFERENCE_BYTES:
        raise TooLarge(
            f"{family.spec[:200]}: {REFERENCE_EXAMPLES} examples stand in instance.json and take "
            f"{readable_bytes(REFERENCE_EXAMPLES * family.bytes_per_example)}, at most "
            f"{readable_bytes(_REFERENCE_BYTES)} belong there: take a smaller d"
        )
    with new_folder(path, force=force, ours=_FOLDER_FILES) as folder:
        shards = tuple(_write_shards(folder, instance, count, tensors, progress))
        stated = _PublicFile(
            spec=family.spec,
            revision=family.revision,
            k=family.k,
            d=family.d,
            labels=family.label_text,
            commitments=public.commitments,
            reference={name: _plain(value) for name, value in public.reference.tensors.items()},
            examples=_StoredExamples(count=count, shards=shards),
        )
        write_json(folder / "instance.json", msgspec.to_builtins(stated))
        if isinstance(instance, Instance):
            hidden = instance.hidden
            secret = _SecretFile(
                spec=family.spec, secret=hidden.secret, seed=hidden.seed, nonce=hidden.nonce.hex()
            )
            write_json(folder / "secret.json", msgspec.to_builtins(secret), mode=0o600)
            if with_layer:
                instance.layer().save(folder / f"secret-layer.{tensors}")
    return Folder(path=path, public=public, hidden=hidden, shards=shards)


def _write_shards(
    folder: Path, source: Source, count: int, tensors: TensorFormat, progress: Callable[[int], None]
) -> Iterator[Shard]:
    """Write `count` examples of a source to a new folder, up to 32 MiB a file."""
    family, size = source.family, source.family.bytes_per_example
    require_disk(count * size, folder, f"{count} examples of {family.spec}")
    per_shard = max(1, _SHARD_BYTES // size)
    for number, start in enumerate(range(0, count, per_shard)):
        examples = source.examples(start, min(per_shard, count - start))
        name = f"examples-{number:05d}.{tensors}"
        meta = {"format": EXAMPLES, "spec": family.spec, "start": start}
        write_tensors(folder / name, examples.tensors, meta)
        yield Shard(file=name, count=len(examples), sha256=content_hash(examples))
        progress(len(examples))


def read_folder(path: Path) -> Folder:
    """Read a folder by its path or that of its instance.json; raises UsageError, DamagedFile."""
    if path.is_file():
        if read_json(path).get("format") == SECRET:
            raise UsageError(
                f"{path} is the secret part of an instance: give its folder or instance.json"
            )
        if path.name != "instance.json":
            raise UsageError(f"{path} is not an instance: give the folder of `hardness generate`")
        path = path.parent
    public_path, secret_path = path / "instance.json", path / "secret.json"
    if not public_path.is_file():
        raise UsageError(f"{path} is not a folder that `hardness generate` made")
    data = read_json(public_path)
    require_format(data, PUBLIC, public_path)
    with damage(public_path):
        stated = msgspec.convert(data, _PublicFile)
        family = parse_stored(stated.spec)
        if family.revision != stated.revision:
            raise DamagedFile(
                f"{public_path} was made by revision {stated.revision} of {family.name}, "
                f"this is revision {family.revision}: generate it again"
            )
        if (stated.k, stated.d, stated.labels) != (family.k, family.d, family.label_text):
            raise DamagedFile(f"{public_path} is damaged: k, d or labels are not those of its spec")
        if stated.commitments.keys() not in ({"secret", "seed"}, set()):  # or no secret
            raise DamagedFile(f"{public_path} is damaged: it commits to something else")
        tensors = {name: _array(name, v, family) for name, v in stated.reference.items()}
        few = min(stated.examples.count, REFERENCE_EXAMPLES)
        reference = family.restore(tensors, REFERENCE_EXAMPLES if stated.commitments else few)
        public = Public(family=family, commitments=stated.commitments, reference=reference)
        shards = stated.examples.shards
        if sum(shard.count for shard in shards) != stated.examples.count:
            raise DamagedFile(f"{public_path} does not add up: shards and count differ")
    hidden = _read_hidden(secret_path, public) if secret_path.exists() else None
    return Folder(path=path, public=public, hidden=hidden, shards=shards)


def _read_hidden(path: Path, public: Public) -> Hidden:
    data = read_json(path)
    require_format(data, SECRET, path)
    if not public.commitments:
        raise DamagedFile(f"{path} stands beside an instance.json that committed to no secret")
    with damage(path):
        stated = msgspec.convert(data, _SecretFile)
        nonce = bytes.fromhex(stated.nonce)
        hidden = Hidden(secret=stated.secret, seed=stated.seed, nonce=nonce)
        if stated.spec != public.family.spec:
            raise DamagedFile(f"{path} is of {stated.spec}, instance.json of {public.family.spec}")
        for part, digest in public.commitments.items():
            if hidden.commitment(part) != digest:  # type: ignore[arg-type]
                raise DamagedFile(f"{path} is not what instance.json committed to: wrong {part}")
        reference = Instance(family=public.family, hidden=hidden).public.reference
        if not reference.agrees(public.reference):
            raise DamagedFile(f"{path.parent}: the reference examples are not those of the secret")
    return hidden


def _plain(value: NDArray[Any]) -> Any:
    """Turn an array into nested lists for JSON: packed words in hexadecimal, numbers as numbers."""
    if value.dtype != np.uint64:
        return value.tolist()
    return [_plain(part) for part in value] if value.ndim else f"{int(value):016x}"


def _array(name: str, data: Any, family: Family) -> NDArray[Any]:
    """Read an array that `_plain` wrote; raises ValueError or TypeError."""
    if name == "words":
        return np.array([[[int(w, 16) for w in token] for token in x] for x in data], np.uint64)
    if isinstance(family, Coded):
        return np.array(data, family.code_type)
    numbers = np.array(data)
    if numbers.dtype.kind not in "fi":
        raise ValueError(f"the reference's {name} are no numbers")
    return numbers.astype(np.float64)


def load_layer(path: Path) -> AttentionLayer:
    """Read a layer from a .npz or .safetensors file; raises DamagedFile, UsageError.

    The file holds theta and w (m, d, d), as `AttentionLayer.save` writes them, or the arguments of
    `AttentionLayer.from_qkvo` by name.
    """
    cure = "write one by AttentionLayer.from_torch(module).save('layer.npz')"
    if path.suffix not in (".npz", ".safetensors"):
        raise UsageError(f"a layer's file must end in .npz or .safetensors, got {path}; {cure}")
    arrays, meta = read_arrays(path)
    if meta is not None:
        require_format(meta, LAYER, path)
    names, fields = set(arrays), meta or {}
    with damage(path):
        try:
            if names == {"theta", "w"}:
                kind, constant = fields.get("kind", "softmax"), fields.get("constant") is True
                return AttentionLayer(**arrays, kind=kind, constant=constant)
            if set("qkvo") <= names <= {*"qkvo", "bq", "bk", "bv", "bo", "scale"}:
                scale = float(arrays.pop("scale")) if "scale" in arrays else None
                return AttentionLayer.from_qkvo(**arrays, scale=scale)
        except UsageError as error:
            raise DamagedFile(f"{path}: {error}") from error
    listing = ", ".join(sorted(names))[:80] or "nothing"
    raise UsageError(
        f"{path} holds {listing}: a layer is theta and w, or q, k, v and o with biases bq, bk, bv "
        f"and bo, and scale; of a torch module {cure}"
    )

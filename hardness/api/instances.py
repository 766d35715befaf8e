"""Write and inspect instances, and convert samples of LWR to examples and back."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hardness.api import progress, sources
from instances.arguments import integral, located, one_of, switch
from instances.errors import UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.api.sources import Source
    from instances import AttentionLayer, Family
    from instances.family import Instance
    from instances.inspect import Inspection
    from instances.result import Answer
    from instances.samples import Samples

    File = str | PathLike[str]


def generate(
    source: "str | Family",
    *,
    out: "File",
    examples: int | None = None,
    samples: int | None = None,
    format: Literal["safetensors", "npz"] | None = None,
    weights: bool = False,
    seed: int = 0,
    force: bool = False,
) -> "Answer":
    """Write an instance, its secret part and its first examples to a folder.

    Parameters
    ----------
    source : str or Family
        A SPEC or a family.
    out : path
        The folder; with `samples` the file, which ends in .csv, .txt, .npz or .safetensors.
    examples : int, optional
        How many examples are written.
    samples : int, optional
        Write so many samples (a, b) of an LWE-style family in place of examples, and the secret to
        a file beside them.
    format : {"safetensors", "npz"}, optional
        Of the arrays of the folder.
    weights : bool
        Write the weights of the layer too, which are secret.
    seed : int
        Of the instance. Who knows it can compute the secret.
    force : bool
        Replace what is there.

    Returns
    -------
    Answer
        What was written, as `data`.

    Raises
    ------
    AlreadyExists
        If `out` exists and `force` is not given.
    UsageError
        For a value out of range.
    """
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.files import write_folder
    from instances.result import Answer
    from instances.samples import draw_samples

    path = Path(located("out", out))
    if format is not None:
        one_of("format", format, ("safetensors", "npz"))
    switch("force", force)
    switch("weights", weights)
    count = 0 if examples is None else integral("examples", examples, 0)
    seed = integral("seed", seed, 0)
    instance = sources.family(source).instance(seed)
    if samples is not None:
        samples = integral("samples", samples, 1)
        for name, value in (("examples", examples), ("format", format), ("weights", weights)):
            if value not in (None, False):
                raise UsageError(f"give --{name} or --samples, one of the two")
        refuse_existing(path, force)
        refuse_unwritable(path)
        drawn = draw_samples(instance, samples)
        secret_file = _write_samples(path, drawn, instance, force)
        data = {"spec": drawn.family.spec, "samples": samples, "written": str(path)}
        words = f"{path}: {samples} samples of {drawn.family}\nthe secret in {secret_file}"
        return Answer(data=data | {"secret": str(secret_file)}, message=words)
    refuse_unwritable(path)
    with progress.counted(count, "generating") as bar:
        folder = write_folder(path, instance, count, format or "safetensors", force, weights, bar)
    return Answer(
        data={
            "spec": folder.family.spec,
            "folder": str(folder.path),
            "examples": folder.count,
            "shards": [shard.file for shard in folder.shards],
            "commitments": folder.public.commitments,
        },
        message=f"{folder.path}: {folder.family}, {folder.count} examples in {len(folder.shards)} "
        "files\npublic part instance.json, secret part secret.json",
    )


def _write_samples(out: Path, samples: "Samples", instance: "Instance | None", force: bool) -> Path:
    """Write samples, and the secret of their instance, if it is known, to the returned file."""
    from instances.disk import refuse_existing
    from instances.samples import write_secret

    secret_file = out.with_suffix(".secret.json")
    if instance:
        refuse_existing(secret_file, force)
    samples.save(out, force=force)
    if instance:
        secret = instance.family.to_linear(instance.hidden.secret)
        write_secret(secret_file, samples, secret, instance.hidden.seed, force=force)
    return secret_file


def inspect(
    source: "Source | AttentionLayer",
    *,
    k: int | None = None,
    save_layer: "File | None" = None,
    seed: int = 0,
    force: bool = False,
) -> "Inspection":
    """Show what a layer is like: heads, norms, and how alike its heads are.

    Parameters
    ----------
    source : str, Family, AttentionLayer or path
        A SPEC, a folder of `hardness generate`, a layer (`AttentionLayer.from_qkvo`), a torch
        module that `AttentionLayer.from_torch` reads, or a .npz or .safetensors file with theta
        and w (m, d, d), or q, k, v (m, d, r) and o (m, r, d).
    k : int, optional
        The number of tokens, of a layer.
    save_layer : path, optional
        Write the layer of a SPEC to this .npz or .safetensors file.
    seed : int
        Of the instance of a SPEC.
    force : bool
        Replace the file `save_layer`.

    Returns
    -------
    Inspection
        Norms, cosines, stable ranks, and the conditions of the theorem as numbers.

    Raises
    ------
    UsageError
        For a source of another kind.
    AlreadyExists
        If the file `save_layer` exists and `force` is not given.

    Examples
    --------
    >>> round(inspect("parity:d=12,m=4").facts["layer"]["w_coherence"], 9)
    1.0
    """
    from dataclasses import replace

    from hardness.bounds.leap import leaps
    from instances import AttentionLayer
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.files import load_layer
    from instances.inspect import inspect as described
    from instances.inspect import inspect_layer

    k = None if k is None else integral("k", k, 1)
    seed = integral("seed", seed, 0)
    layer = None if save_layer is None else Path(located("save_layer", save_layer))
    if layer:
        refuse_existing(layer, force)
        refuse_unwritable(layer)
    problem: Any = source
    file = Path(sources.text_of(source))
    if file.suffix in (".npz", ".safetensors", ".npy", ".pt", ".pth", ".bin"):
        problem = load_layer(file)
    elif "torch" in sys.modules:  # a module exists only if torch is imported
        from hardness.learners.plugins.module import is_module

        problem = AttentionLayer.from_torch(source) if is_module(source) else source
    if isinstance(problem, AttentionLayer):
        if layer:
            raise UsageError("--save-layer writes the layer of a SPEC, and SOURCE is a layer")
        return inspect_layer(problem, sources.text_of(source) or "an AttentionLayer", k)
    family, folder = sources.target(problem)
    if k is not None:
        raise UsageError(f"--k only applies to a layer, and {family} has its own k: leave it out")
    instance = folder.instance if folder else family.instance(seed)
    description = described(family, instance)
    if measures := leaps(family, instance.hidden.secret if instance else None):
        description = replace(description, facts=description.facts | measures._asdict())
    if layer:
        if instance is None:
            raise UsageError(f"no layer to save: {problem} has no secret part")
        instance.layer().save(layer, force=force)
    return description


def reduce(
    direction: Literal["lwr-to-attention", "attention-to-lwr"],
    source: "File | None" = None,
    *,
    out: "File",
    a: "File | None" = None,
    b: "File | None" = None,
    spec: str | None = None,
    seed: int = 0,
    force: bool = False,
) -> "Answer":
    """Turn samples of LWR, LWE or LPN into attention examples, without their secret, or back.

    Parameters
    ----------
    direction : {"lwr-to-attention", "attention-to-lwr"}
        The first takes LWE and LPN as well.
    source : path
        A file of samples: arrays in .npz or .safetensors, a table of integers in .csv or .npy, or
        a Darmstadt challenge. For "attention-to-lwr" a folder of examples.
    out : path
        The folder of examples to write; for "attention-to-lwr" a file of samples, which ends in
        .npz, .safetensors, .csv or .txt.
    a, b : path, optional
        A file for each part of the samples, in place of `source`.
    spec : str, optional
        The family of samples that do not state it.
    seed : int
        Of the randomness of the examples.
    force : bool
        Replace what is there.

    Returns
    -------
    Answer
        What was written, as `data`.

    Raises
    ------
    AlreadyExists
        If `out` exists and `force` is not given.
    UsageError
        For a source of another kind.
    """
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.files import MemoryFolder, read_folder, write_folder
    from instances.result import Answer
    from instances.samples import samples as samples_in
    from instances.samples import to_attention

    path, seed = Path(located("out", out)), integral("seed", seed, 0)
    one_of("direction", direction, ("lwr-to-attention", "attention-to-lwr"))
    origin = sources.paired(None if source is None else Path(located("source", source)), a, b)
    if origin is None:
        raise UsageError("reduce needs a file of samples or a folder, or --a and --b")
    if direction == "attention-to-lwr":
        if isinstance(origin, sources.Arrays):
            raise UsageError("attention-to-lwr takes a folder of examples: leave out --a and --b")
        refuse_existing(path, force)
        refuse_unwritable(path)
        if origin.is_file():
            raise UsageError(f"{origin} is a file: attention-to-lwr takes a folder of examples")
        folder = read_folder(origin)
        converted = samples_in(folder.examples(0, folder.count))
        words = f"{len(converted)} samples of {folder.count} examples"
        secret_file = _write_samples(path, converted, folder.instance, force)
        words += f"; the secret in {secret_file}" if folder.instance else ""
    else:
        if isinstance(origin, Path) and origin.is_dir():
            raise UsageError(f"{origin} is a folder: attention-to-lwr takes it")
        converted = sources.read_file(origin, spec)
        examples = MemoryFolder.of_examples(Path(str(origin)), to_attention(converted, seed))
        written = write_folder(path, examples, examples.count, force=force)
        counts = f"{written.count} examples of {len(converted)} samples"
        words = "; ".join((counts, *converted.notes))
    data = {"spec": converted.family.spec, "samples": len(converted), "written": str(path)}
    return Answer(data=data, message=f"{path}: {converted.family}, {words}")


def samples(
    source: "Source | None" = None,
    count: int | None = None,
    *,
    a: "File | None" = None,
    b: "File | None" = None,
    spec: str | None = None,
    seed: int = 0,
) -> "Samples":
    """Return samples (a, b) of an LWE-style instance, as arrays, without its secret.

    Parameters
    ----------
    source : str, Family or path
        A SPEC, or a file or folder of samples.
    count : int, optional
        How many: the first of them. All of a file if it is not given.
    a, b : path, optional
        A file for each part, in place of `source`.
    spec : str, optional
        The family of samples that do not state it.
    seed : int
        Of the instance of a SPEC.

    Returns
    -------
    Samples
        `a` (count, n) and `b` (count,), integers mod `q`.

    Raises
    ------
    ToolkitError
        For a source without samples.

    Examples
    --------
    >>> drawn = samples("lwe:n=30,q=251,sigma=3,secret=binary,h=3", 1000)
    >>> drawn.a.shape, drawn.b.shape, drawn.q
    ((1000, 30), (1000,), 251)
    """
    from instances.samples import draw_samples
    from instances.samples import samples as samples_in

    count = None if count is None else integral("count", count, 1)
    seed, source = integral("seed", seed, 0), sources.paired(source, a, b)
    if file := source if isinstance(source, sources.Arrays) else sources.file_of(source):
        stored = sources.read_file(file, spec)
        return stored.cut(0, count or len(stored))
    family, folder = sources.target(source, spec)
    if folder is not None:
        return samples_in(folder.examples(0, folder.count)).cut(0, count or folder.count)
    if count is None:
        raise UsageError(f"samples of {family} are drawn without end: give their count")
    return draw_samples(family.instance(seed), count)

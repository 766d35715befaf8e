"""Instances and their examples: written, looked at, made of samples of LWR and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hardness.verbs import progress, sources
from hardness.verbs.ask import called, choice, flag, path, thing, whole
from hardness.verbs.asks import A_FILE, B_FILE, FILE, FORCE, SEED, SPEC_OF, specs
from hardness.verbs.command import verb
from instances.errors import UsageError

if TYPE_CHECKING:
    from hardness.verbs.sources import Source
    from instances import AttentionLayer, Family
    from instances.family import Instance
    from instances.inspect import Inspection
    from instances.result import Answer
    from instances.samples import Samples


@verb(
    "Write an instance and examples, or samples (a, b).",
    out="Where to write: a folder, or a file of samples.  [required]",
    place="own",
)
def generate(
    source: Annotated["str | Family", thing("A SPEC.", specs)],
    *,
    examples: Annotated[int | None, whole("Number of labelled examples.", 0, default="0")] = None,
    samples: Annotated[
        int | None,
        whole(
            "Number of samples: (a, b) alone, to a file that ends in .csv, .txt, .npz or "
            ".safetensors; the secret beside it.",
            default="a folder of examples",
        ),
    ] = None,
    tensors: Annotated[
        Any,
        choice(
            "Format: of arrays.",
            *("safetensors", "npz"),
            default="safetensors",
            flag="--format",
        ),
    ] = None,
    weights: Annotated[bool, flag("Also write the weights (secret).")] = False,
    out: Annotated["Path | None", path("A folder, or a file of samples.")] = None,
    seed: Annotated[int, SEED] = 0,
    force: Annotated[bool, FORCE] = False,
) -> "Answer":
    """Write an instance, its secret part and its first examples to a folder.

    With --samples: the first samples (a, b) of an LWE-style instance to a file, its secret apart.
    """
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.files import write_folder
    from instances.result import Answer
    from instances.samples import draw_samples

    if out is None:
        raise UsageError("generate needs --out DIR, or --samples N and --out FILE")
    instance = sources.family(source).instance(seed)
    if samples:
        for name, value in (("examples", examples), ("format", tensors), ("weights", weights)):
            if value not in (None, False):
                raise UsageError(f"{called(name)} and --samples given: one of the two")
        refuse_existing(out, force)
        refuse_unwritable(out)
        drawn = draw_samples(instance, samples)
        apart = _written(out, drawn, instance, force)
        data = {"spec": drawn.family.spec, "samples": samples, "written": str(out)}
        words = f"{out}: {samples} samples of {drawn.family}\nthe secret in {apart}"
        return Answer(data=data | {"secret": str(apart)}, told=words)
    count = examples or 0
    with progress.counted(count, "generating") as bar:
        folder = write_folder(out, instance, count, tensors or "safetensors", force, weights, bar)
    return Answer(
        data={
            "spec": folder.family.spec,
            "folder": str(folder.path),
            "examples": folder.count,
            "shards": [shard.file for shard in folder.shards],
            "commitments": folder.public.commitments,
        },
        told=f"{folder.path}: {folder.family}, {folder.count} examples in {len(folder.shards)} "
        "files\npublic part instance.json, secret part secret.json",
    )


def _written(out: Path, found: "Samples", of: "Instance | None", force: bool) -> Path:
    """Write samples, and the secret of their instance beside them; names its file."""
    from instances.disk import refuse_existing
    from instances.samples import write_secret

    apart = out.with_suffix(".secret.json")
    if of:
        refuse_existing(apart, force)
    found.save(out, force=force)
    if of:
        secret = of.family.to_linear(of.hidden.secret)
        write_secret(apart, found, secret, of.hidden.seed, force=force)
    return apart


@verb("Heads, norms and coherence of a layer.", out=FILE)
def inspect(
    source: Annotated["Source | AttentionLayer", thing("What is looked at.", specs)],
    *,
    k: Annotated[int | None, whole("Number of tokens: of an example.", default="not known")] = None,
    save_layer: Annotated[
        Path | None,
        path(
            "Write the layer to a file: .npz or .safetensors, of SPEC.",
            default="no file",
            writes=True,
        ),
    ] = None,
    seed: Annotated[int, SEED] = 0,
    force: Annotated[bool, FORCE] = False,
) -> "Inspection":
    """Show what a layer is like: heads, norms, how alike its heads are.

    SOURCE is a SPEC, a folder of `hardness generate`, or a file of a layer. A layer is a .npz or
    .safetensors with theta and w (m, d, d), or with q, k, v (m, d, r) and o (m, r, d). From Python
    also an AttentionLayer, which `from_torch` and `from_qkvo` make.

    >>> round(inspect("parity:d=12,m=4").facts["layer"]["w_coherence"], 9)
    1.0
    """
    from dataclasses import replace

    from hardness.bounds.leap import leaps
    from instances import AttentionLayer
    from instances.files import load_layer
    from instances.inspect import inspect as described
    from instances.inspect import inspect_layer

    problem: Any = source
    file = Path(sources.text_of(source))
    if file.suffix in (".npz", ".safetensors", ".npy", ".pt", ".pth", ".bin"):
        problem = load_layer(file)
    if isinstance(problem, AttentionLayer):
        if save_layer:
            raise UsageError(
                "--save-layer given: it writes the layer of a SPEC, and this is a layer"
            )
        return inspect_layer(problem, sources.text_of(source) or "an AttentionLayer", k)
    if k is not None:
        raise UsageError(f"--k {k} given: it is of a layer in a file")
    family, folder = sources.target(problem)
    instance = folder.instance if folder else family.instance(seed)
    description = described(family, instance)
    if three := leaps(family, instance.hidden.secret if instance else None):
        description = replace(description, facts=description.facts | three._asdict())
    if save_layer:
        if instance is None:
            raise UsageError(f"--save-layer given: {problem} has no secret part")
        instance.layer().save(save_layer, force=force)
    return description


@verb(
    "LWR/LWE samples to attention examples, and back.",
    out="Where to write: a folder or a file.  [required]",
    place="own",
)
def reduce(
    direction: Annotated[str, choice("Which way.", "lwr-to-attention", "attention-to-lwr")],
    source: Annotated[
        Path | None, path("A file of samples, or a folder of examples.", default="--a and --b")
    ] = None,
    *,
    a: Annotated[Path | None, A_FILE] = None,
    b: Annotated[Path | None, B_FILE] = None,
    spec: Annotated[str | None, SPEC_OF] = None,
    out: Annotated[Path | None, path("A folder, or a file of samples.")] = None,
    seed: Annotated[int, SEED] = 0,
    force: Annotated[bool, FORCE] = False,
) -> "Answer":
    """Turn samples of LWR, LWE or LPN into attention examples, no secret known, or back.

    lwr-to-attention (LWE and LPN as well): SOURCE is a file of samples, --out a folder. Samples are
    arrays in .npz or .safetensors, a table of integers in .csv or .npy, or a Darmstadt challenge.
    attention-to-lwr: SOURCE is a folder of examples, --out a file of samples (.npz, .safetensors,
    .csv or .txt).
    """
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.files import Held, read_folder, write_folder
    from instances.result import Answer
    from instances.samples import samples as seen
    from instances.samples import to_attention

    if out is None:
        raise UsageError("reduce needs --out: a folder of examples, or a file of samples")
    origin = sources.paired(source, a, b)
    if origin is None:
        raise UsageError("reduce needs a file of samples or a folder, or --a and --b")
    if direction == "attention-to-lwr":
        if isinstance(origin, sources.Arrays):
            raise UsageError("--a and --b given: attention-to-lwr takes a folder of examples")
        refuse_existing(out, force)
        refuse_unwritable(out)
        folder = read_folder(origin)
        converted = seen(folder.examples(0, folder.count))
        words = f"{len(converted)} samples of {folder.count} examples"
        apart = _written(out, converted, folder.instance, force)
        words += f"; the secret in {apart}" if folder.instance else ""
    else:
        converted = sources.read_file(origin, spec)
        held = Held.of(Path(str(origin)), to_attention(converted, seed))
        made = write_folder(out, held, held.count, force=force)
        words = "; ".join((f"{made.count} examples of {len(converted)} samples", *converted.notes))
    data = {"spec": converted.family.spec, "samples": len(converted), "written": str(out)}
    return Answer(data=data, told=f"{out}: {converted.family}, {words}")


@verb("Samples (a, b) of an LWE-style instance.")
def samples(
    source: Annotated["Source | None", thing("What samples are of.", specs)] = None,
    count: Annotated[int | None, whole("Number of samples.", default="all of a file")] = None,
    *,
    a: Annotated[Path | None, A_FILE] = None,
    b: Annotated[Path | None, B_FILE] = None,
    spec: Annotated[str | None, SPEC_OF] = None,
    seed: Annotated[int, SEED] = 0,
) -> "Samples":
    """Return samples (a, b) of an LWE-style instance, as arrays, without its secret.

    SOURCE: a SPEC, of which the first `count` are drawn; or a file or folder, all of which are
    read, or the first `count`. Raises ToolkitError.

    >>> found = samples("lwe:n=30,q=251,sigma=3,secret=binary,h=3", 1000)
    >>> found.a.shape, found.b.shape, found.q
    ((1000, 30), (1000,), 251)
    """
    from instances.samples import draw_samples
    from instances.samples import samples as seen

    source = sources.paired(source, a, b)
    if file := source if isinstance(source, sources.Arrays) else sources.file_of(source):
        read = sources.read_file(file, spec)
        return read.cut(0, count or len(read))
    found, folder = sources.target(source, spec)
    if folder is not None:
        return seen(folder.examples(0, folder.count)).cut(0, count or folder.count)
    if count is None:
        raise UsageError(f"samples of {found} are drawn without end: give their count")
    return draw_samples(found.instance(seed), count)

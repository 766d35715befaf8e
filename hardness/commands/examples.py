"""Instances and their examples: written, looked at, made of samples of LWR and back."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from hardness.commands.options import (
    EXAMPLES,
    FILE,
    POSITIVE,
    SAMPLES,
    WHOLE,
    complete_spec,
    emit,
    k_option,
    layer_options,
    progress,
    refuse_existing_output,
    shared,
    spec_argument,
)

if TYPE_CHECKING:
    from instances.family import Instance
    from instances.samples import Samples


@click.command(short_help="Write an instance and examples, or samples (a, b).")
@spec_argument
@click.option("--examples", type=WHOLE, default=0, show_default=True, help=f"{EXAMPLES}.")
@click.option(
    "--samples",
    type=POSITIVE,
    help=f"{SAMPLES}: (a, b) alone, to a file that ends in .prefix, .txt, .npz or .safetensors; "
    "the secret beside it.  [default: a folder of examples]",
)
@click.option(
    "--format",
    "tensors",
    type=click.Choice(["safetensors", "npz"]),
    default="safetensors",
    show_default=True,
    help="Format: of arrays.",
)
@click.option("--weights", is_flag=True, help="Also write the weights (secret).")
@shared("seed", "force", "quiet", out="Where to write: a folder, or a file of samples.  [required]")
@click.pass_context
def generate(
    context: click.Context,
    output: SimpleNamespace,
    spec: str,
    examples: int,
    samples: int | None,
    tensors: Any,
    weights: bool,
) -> None:
    """Write an instance, its secret part and its first examples to a folder.

    With --samples: the first samples (a, b) of an LWE-style instance to a file, its secret apart.
    """
    from instances.files import write_folder
    from instances.spec import parse

    if output.out is None:
        raise click.UsageError("generate needs --out DIR, or --samples N and --out FILE")
    if samples:
        default = click.core.ParameterSource.DEFAULT
        for name in ("examples", "tensors", "weights"):
            if context.get_parameter_source(name) is not default:
                option = {"tensors": "format"}.get(name, name)
                raise click.UsageError(f"--{option} and --samples given: one of the two")
        return _generate_samples(output, parse(spec).instance(output.seed), samples)
    with progress(examples, "generating", output) as bar:
        folder = write_folder(
            output.out,
            parse(spec).instance(output.seed),
            examples,
            tensors,
            output.force,
            weights,
            bar,
        )
    data = {
        "spec": folder.family.spec,
        "folder": str(folder.path),
        "examples": folder.count,
        "shards": [shard.file for shard in folder.shards],
        "commitments": folder.public.commitments,
    }
    text = (
        f"{folder.path}: {folder.family}, {folder.count} examples in "
        f"{len(folder.shards)} files\npublic part instance.json, secret part secret.json"
    )
    emit(output, data, text, write=False)


def _generate_samples(output: SimpleNamespace, instance: "Instance", count: int) -> None:
    from instances.samples import draw_samples

    refuse_existing_output(output)
    found = draw_samples(instance, count)
    apart = _write_samples(output, found, instance)
    data = {"spec": found.family.spec, "samples": count, "written": str(output.out)}
    text = f"{output.out}: {count} samples of {found.family}\nthe secret in {apart}"
    emit(output, data | {"secret": str(apart)}, text, write=False)


def _write_samples(output: SimpleNamespace, found: "Samples", of: "Instance | None") -> Path:
    """Write samples to --out, and the secret of their instance beside it; names its file."""
    from instances.disk import refuse_existing
    from instances.samples import write_secret

    apart = output.out.with_suffix(".secret.json")
    if of:
        refuse_existing(apart, output.force)
    found.save(output.out, force=output.force)
    if of:
        secret = of.family.to_linear(of.hidden.secret)
        write_secret(apart, found, secret, of.hidden.seed, force=output.force)
    return apart


@click.command(short_help="Heads, norms and coherence of a layer.")
@spec_argument
@layer_options
@k_option("not known")
@click.option(
    "--rewrite",
    help="Other heads of the same function: flipped, split, padded, copies, matched or moved.  "
    "[default: as the family has them]",
)
@click.option(
    "--save-layer",
    type=click.Path(path_type=Path),
    help="Write the layer to a file: .npz or .safetensors, of SPEC.  [default: no file]",
)
@shared("seed", "force", out=FILE)
def inspect(
    output: SimpleNamespace,
    spec: str,
    number: int | None,
    heads: int | None,
    k: int | None,
    rewrite: str | None,
    save_layer: Path | None,
) -> None:
    """Show what a layer is like: heads, norms, how alike its heads are.

    SPEC is also a file of a layer, .safetensors or .npz, with theta and w or with q, k, v and o;
    or a model's checkpoint in the layout of GPT-2, Llama or BERT, with --layer.
    """
    from hardness.front import inspect as described
    from hardness.report.inspection import inspection_words

    refuse_existing_output(output)
    found = described(spec, layer=number, heads=heads, k=k, form=rewrite, seed=output.seed)
    if save_layer:
        if output.out and save_layer.resolve() == output.out.resolve():
            raise click.UsageError("--out and --save-layer name the same file: give two names")
        _save_layer(spec, rewrite, output.seed, save_layer, output.force)
    emit(output, found.to_dict(), inspection_words(found.to_dict()), table=found)


def _save_layer(spec: str, form: str | None, seed: int, path: Path, force: bool) -> None:
    """Write the layer of an instance to a file."""
    from hardness.verbs.sources import target
    from instances.checkpoint import holds_layer
    from instances.forms import formed

    if holds_layer(Path(spec)):
        raise click.UsageError(f"--save-layer given: {spec} holds a layer, it is that of a SPEC")
    family, folder = target(spec)
    instance = folder.instance if folder else family.instance(seed)
    if instance is None:
        raise click.UsageError(f"--save-layer given: {spec} has no secret part")
    (formed(instance, form) if form else instance.layer()).save(path, force=force)


@click.command(name="reduce", short_help="LWR/LWE samples to attention examples, and back.")
@click.argument("direction", type=click.Choice(["lwr-to-attention", "attention-to-lwr"]))
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--spec",
    shell_complete=complete_spec,
    help="The family of a file of samples: of arrays (a, b).  "
    "[default: the one that the file names]",
)
@shared("seed", "force", out="Where to write: a folder or a file.  [required]")
def reduction(output: SimpleNamespace, direction: str, source: Path, spec: str | None) -> None:
    """Turn samples of LWR, LWE or LPN into attention examples, no secret known, or back.

    lwr-to-attention, of LWE and LPN as well: SOURCE is a file of samples (arrays in .npz or
    .safetensors, a table of integers in .txt, .csv, .prefix or .npy, a Darmstadt challenge), --out
    a folder. attention-to-lwr: SOURCE is a folder of examples, --out a file of samples (.npz,
    .safetensors, .prefix or .txt).
    """
    from instances.capabilities import LINEAR_FORMS
    from instances.files import Held, read_folder, write_folder
    from instances.samples import read_samples, samples, to_attention
    from instances.spec import parse_stored

    if output.out is None:
        raise click.UsageError("reduce needs --out: a folder of examples, or a file of samples")
    if direction == "attention-to-lwr":
        refuse_existing_output(output)
        folder = read_folder(source)
        found = samples(folder.examples(0, folder.count))
        shown = f"{len(found)} samples of {folder.count} examples"
        apart = _write_samples(output, found, folder.instance)
        shown += f"; the secret in {apart}" if folder.instance else ""
    else:
        found = read_samples(source, LINEAR_FORMS.need(parse_stored(spec)) if spec else None)
        held = Held.of(source, to_attention(found, output.seed))
        made = write_folder(output.out, held, held.count, force=output.force)
        shown = f"{made.count} examples of {len(found)} samples"
    data = {"spec": found.family.spec, "samples": len(found), "written": str(output.out)}
    emit(output, data, f"{output.out}: {found.family}, {shown}", write=False)

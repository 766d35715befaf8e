"""Instances and their examples: written to a folder, looked at, made of samples of LWR and back."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    EXAMPLES,
    FILE,
    WHOLE,
    complete_spec,
    emit,
    k_option,
    layer_options,
    progress,
    refuse_existing_output,
    shared,
    spec_argument,
    target,
)


@click.command(short_help="Write an instance and examples to a folder.")
@spec_argument
@click.option("--examples", type=WHOLE, default=0, show_default=True, help=f"{EXAMPLES}.")
@click.option(
    "--format",
    "tensors",
    type=click.Choice(["safetensors", "npz"]),
    default="safetensors",
    show_default=True,
    help="Format: of arrays.",
)
@click.option("--weights", is_flag=True, help="Also write the weights (secret).")
@shared("seed", "force", "quiet", out="Where to write: a folder.  [required]")
def generate(
    output: SimpleNamespace, spec: str, examples: int, tensors: Any, weights: bool
) -> None:
    """Write an instance, its secret part and its first examples to a folder."""
    from instances.files import write_folder
    from instances.spec import parse

    if output.out is None:
        raise click.UsageError("generate needs --out DIR")
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


@click.command(short_help="Heads, norms and coherence of a layer.")
@spec_argument
@layer_options
@k_option("not known")
@shared("seed", "force", out=FILE)
def inspect(
    output: SimpleNamespace,
    spec: str,
    number: int | None,
    heads: int | None,
    k: int | None,
) -> None:
    """Show what a layer is like: heads, norms, how alike its heads are.

    SPEC is also a file of a layer, .safetensors or .npz, with theta and w or with q, k, v and o;
    or a model's checkpoint in the layout of GPT-2, Llama or BERT, with --layer.
    """
    from hardness.report.inspection import inspection_words
    from instances.checkpoint import holds_layer, read_heads
    from instances.inspect import inspect, inspect_heads

    refuse_existing_output(output)
    path = Path(spec)
    if holds_layer(path):
        data = inspect_heads(read_heads(path, number, heads), k)
        return emit(output, data, inspection_words(data))
    given = {"--layer": number, "--heads": heads, "--k": k}
    for option, value in given.items():
        if value is not None:
            raise click.UsageError(f"{option} {value} given: it is of a layer in a file")
    family, folder = target(spec)
    data = inspect(family, folder.instance if folder else family.instance(output.seed))
    emit(output, data, inspection_words(data))


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
    .safetensors, a table of integers in .txt, .csv or .npy, a Darmstadt challenge), --out a folder.
    attention-to-lwr: SOURCE is a folder of examples, --out a file of samples (.npz, .safetensors or
    .txt).
    """
    from instances.capabilities import LINEAR_FORMS
    from instances.files import read_folder, write_public_folder
    from instances.reduce import to_attention
    from instances.samplefile import (
        read_samples,
        secret_beside,
        write_samples,
        write_secret,
    )
    from instances.samples import samples
    from instances.spec import parse_stored

    if output.out is None:
        raise click.UsageError("reduce needs --out: a folder of examples, or a file of samples")
    if direction == "attention-to-lwr":
        refuse_existing_output(output)
        folder = read_folder(source)
        found = samples(folder.examples(0, folder.count))
        shown = f"{len(found)} samples of {folder.count} examples"
        if folder.hidden:
            apart, hidden = secret_beside(output.out), folder.hidden
            secret = folder.family.to_linear(hidden.secret)
            write_secret(apart, found, secret, hidden.seed, force=output.force)
            shown += f"; the secret in {apart}"
        write_samples(output.out, found, force=output.force)
    else:
        found = read_samples(source, LINEAR_FORMS.need(parse_stored(spec)) if spec else None)
        made = write_public_folder(output.out, to_attention(found, output.seed), force=output.force)
        shown = f"{made.count} examples of {len(found)} samples"
    data = {"spec": found.family.spec, "samples": len(found), "written": str(output.out)}
    emit(output, data, f"{output.out}: {found.family}, {shown}", write=False)

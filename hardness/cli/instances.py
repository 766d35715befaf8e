"""Commands for instances: generate, inspect, reduce."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import (
    INTEGER,
    PATH,
    WRITTEN,
    Words,
    argument,
    flag,
    option,
    samples_files,
    seed,
    specs,
)
from hardness.cli.output import output


@click.command(cls=Command, short_help="Write an instance and examples, or samples (a, b).")
@argument("source", "A SPEC.", specs)
@option("--examples", "Number of labelled examples.", INTEGER, shown="0")
@option(
    "--samples",
    "Number of samples: (a, b) alone, to a file .csv, .txt, .npz or .safetensors.",
    INTEGER,
    shown="a folder of examples",
)
@option("--format", "Format: of the arrays.", Words("safetensors", "npz"), shown="safetensors")
@flag("--weights", "Also write the weights (secret).")
@seed
@output(
    "Write to this folder, or samples to this file.  [required]",
    "own",
    needs="--out DIR, or --samples N and --out FILE",
)
def generate(source: str, **options: Any) -> Any:
    """Write an instance, its secret part and its first examples to a folder.

    With --samples: the first samples (a, b) of an LWE-style instance to a file, and the secret
    to another file next to it.
    """
    from hardness.api import instances

    return instances.generate(source, **options)


@click.command(cls=Command, short_help="Heads, norms and coherence of a layer.")
@argument("source", "A SPEC, a folder of `hardness generate`, or a file of a layer.", specs)
@option("--k", "Number of tokens: of a layer in a file.", INTEGER, shown="not known")
@option(
    "--save-layer", "Write the layer to this file, .npz or .safetensors.", WRITTEN, shown="no file"
)
@seed
@output("Write the JSON to this file.")
def inspect(source: str, **options: Any) -> Any:
    """Show what a layer is like: heads, norms, how alike its heads are.

    A layer in a file is a .npz or .safetensors with theta and w (m, d, d), or with q, k, v
    (m, d, r) and o (m, r, d).
    """
    from hardness.api import instances

    return instances.inspect(source, **options)


@click.command(cls=Command, short_help="LWR/LWE samples to attention examples, and back.")
@argument("direction", "Which way.", type=Words("lwr-to-attention", "attention-to-lwr"))
@argument("source", "A file of samples, or a folder of examples.", type=PATH, required=False)
@samples_files()
@seed
@output(
    "Write to this folder, or samples to this file.  [required]",
    "own",
    needs="--out: a folder of examples, or a file of samples",
)
def reduce(direction: str, source: str | None = None, **options: Any) -> Any:
    """Turn samples of LWR, LWE or LPN into attention examples, without their secret, or back.

    lwr-to-attention (LWE and LPN as well): SOURCE is a file of samples, --out a folder. Samples are
    arrays in .npz or .safetensors, a table of integers in .csv or .npy, or a Darmstadt challenge.
    attention-to-lwr: SOURCE is a folder of examples, --out a file of samples (.npz, .safetensors,
    .csv or .txt).
    """
    from hardness.api import instances

    return instances.reduce(direction, source, **options)  # type: ignore[arg-type]

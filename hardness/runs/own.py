"""Data of users: a layer that labels random tokens, or labelled examples.

A part of the examples is held out, and a run on the others is judged by that part.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.learners import Learner, Outcome
from hardness.oracles import Budget
from hardness.runs.names import short
from hardness.runs.risk import SOLVED_BELOW
from hardness.runs.run import Run, judged, learn_once
from instances.arguments import located, real_array
from instances.arrayfile import read_arrays
from instances.dense import DenseExamples
from instances.errors import UsageError
from instances.family import Instance
from instances.files import EXAMPLES, MemoryFolder, content_hash, load_layer
from instances.layer import AttentionLayer
from instances.owndata import OwnData
from instances.streams import generator
from instances.teacher import teach

_DEFAULT_TOKENS = 2  # of an example, if k is not given
_HOLD_OUT, _LEAST_HELD_OUT = 0.2, 2  # fraction that is held out, least number of its examples
_LARGEST = 1e100  # the largest entry is between its inverse and this, so squares fit float64


def taught(
    teacher: AttentionLayer | str | PathLike[str],
    tokens: str = "gaussian",
    k: int | None = None,
    noise: Fraction = Fraction(0),
    seed: int = 0,
) -> tuple[Instance, dict[str, Any]]:
    """Make an instance of a given layer, and the details of a run on it; raises ToolkitError.

    teacher: a layer, or its file. tokens: their distribution. k: tokens of an example, 2 by
    default.

    >>> layer = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> instance, details = taught(layer)
    >>> instance.family.k, details["teacher"]["tokens"]
    (2, 'gaussian')
    """
    layer, source = teacher, "an AttentionLayer"
    if isinstance(layer, str | PathLike):
        path = Path(located("teacher", layer))
        if not path.exists():
            raise UsageError(f"no such file: {path}")
        layer, source = load_layer(path), str(path)
    if not isinstance(layer, AttentionLayer):
        raise UsageError(
            f"{type(layer).__name__}: the file of a layer or an AttentionLayer is needed; "
            "AttentionLayer.from_torch(module) and .from_qkvo(q, k, v, o) make one"
        )
    instance = teach(layer, tokens, k or _DEFAULT_TOKENS, noise, seed)
    return instance, {
        "teacher": {
            "source": source,
            "sha256": hashlib.sha256(layer.theta.tobytes() + layer.w.tobytes()).hexdigest(),
            "tokens": instance.family.token_text,
        }
    }


def verdict(result: Run, instance: Instance) -> dict[str, Any]:
    """Say whether a run found the heads of the layer that labelled its examples.

    They are found if the whole interval of the risk lies below 0.05 and the learner's heads match
    the true ones in some order. Each Theta_i and W_i then differs by at most the tolerance,
    relative to its norm. Of Q_i, K_i, V_i and O_i only the products are compared.

    >>> from hardness.runs import run
    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> instance, _ = taught(parse("nice:m=1,k=2,d=4").instance(0).layer())
    >>> verdict(run(parse_learner("levenberg"), instance, Budget()), instance)["found"]
    'heads found'
    """
    from hardness.learners.fitting import FOUND_HEAD_ERROR  # which loads scipy

    truth = result.details.get("truth")
    errors = [*truth["theta_errors"], *truth["w_errors"]] if truth else []
    alone, worst = errors.count(None) // 2, max((e for e in errors if e is not None), default=0.0)
    reason = ""
    if not result.passed:
        reason = f"the risk is not shown to be below {SOLVED_BELOW}"
    elif not truth:
        reason = f"{short(result.learner)} gives no heads, or too many to compare"
    elif alone or worst > FOUND_HEAD_ERROR:
        reason = (
            f"{alone} of them have no partner" if alone else f"one is {worst:.2g} of its norm off"
        )
    ends = ("heads found", Outcome.UNIDENTIFIED.value, "neither")
    end = ends[bool(reason) + (not result.passed)]
    return {"found": end, "because": reason, "tolerance": FOUND_HEAD_ERROR}


@dataclass(frozen=True, kw_only=True, eq=False)
class Split(MemoryFolder):
    """A user's data in two parts.

    loaded: the examples that a learner sees. hold_out: the examples that it is judged by. source:
    the file, empty for arrays. repeated: the number of held-out examples whose tokens are also in
    the other part.
    """

    hold_out: DenseExamples
    source: str
    seed: int
    repeated: int

    def to_dict(self) -> dict[str, Any]:
        """Return a description of the data as JSON."""
        return {
            "source": self.source,
            "examples": len(self.loaded) + len(self.hold_out),
            "training": len(self.loaded),
            "held_out": len(self.hold_out),
            "seed": self.seed,
            "repeated": self.repeated,
            "sha256": [content_hash(part) for part in (self.loaded, self.hold_out)],
        }


def split(x: Any, y: Any, seed: int = 0, source: str = "") -> Split:
    """Check tokens x (n, k, d) and labels y, and hold out a fifth of the examples.

    y: (n, k, d), or for the first token only (n, 1, e) or (n,); missing outputs are 0. The seed
    decides which examples are held out. Numbers of any real type become float64. Raises UsageError.

    >>> rng = np.random.default_rng(0)
    >>> data = split(rng.normal(size=(100, 2, 3)), rng.normal(size=(100, 2, 3)))
    >>> data.family.spec, len(data.loaded), len(data.hold_out)
    ('data:d=3,k=2,tokens=real', 80, 20)
    """
    prefix = f"{source}: " if source else ""
    with suppress(ValueError):  # a ragged list, which is refused below
        y = y if np.ndim(y) != 1 else np.reshape(y, (-1, 1, 1))
    x, y = _numbers(f"{prefix}x", x), _numbers(f"{prefix}y", y)
    n, k, d = x.shape
    rows, outputs = y.shape[1:]
    if len(y) != n or ((rows, outputs) != (k, d) and (rows > 1 or outputs > d)):
        raise UsageError(
            f"{prefix}x {x.shape} and y {y.shape}: labels have the tokens' shape, or "
            "(n, 1, e) or (n,) if they are of the first token alone"
        )
    count = round(_HOLD_OUT * n)
    if count < _LEAST_HELD_OUT:
        raise UsageError(
            f"{prefix}{n} examples: a fifth of them is held out, and at least {_LEAST_HELD_OUT} "
            f"are needed there: give {5 * _LEAST_HELD_OUT} examples or more"
        )
    boolean = bool((np.abs(x) == 1).all())
    family = OwnData(d=d, k=k, tokens="boolean" if boolean else "real", rows=int(rows < k))
    tokens = x.astype(np.int8) if boolean else x
    labels = np.pad(y, ((0, 0), (0, k - rows), (0, d - outputs)))
    order = generator(seed, "hold-out").permutation(n)
    training, held_out = (
        DenseExamples(family=family, x=tokens[part], y=labels[part])
        for part in (np.sort(order[count:]), np.sort(order[:count]))
    )
    for examples, which in ((training, "learned from"), (held_out, "held out")):
        if np.abs(examples.y).max() < 1 / _LARGEST:
            raise UsageError(f"{prefix}the labels of all examples that are {which} are zero")
    seen = {row.tobytes() for row in training.x}
    return Split.of_examples(
        Path(source or "."),
        training,
        hold_out=held_out,
        source=source,
        seed=seed,
        repeated=sum(row.tobytes() in seen for row in held_out.x),
    )


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Read an array (n, k, d) of real numbers whose squares stay within float64."""
    array = np.ascontiguousarray(real_array(name, values, "(n, k, d)"), np.float64)
    wrong = ~np.isfinite(array)
    if wrong.any():
        first = int(np.flatnonzero(wrong.any(axis=(1, 2)))[0])
        raise UsageError(
            f"{name} has {int(wrong.sum())} entries that are not finite, the first in example "
            f"{first}: leave such examples out"
        )
    most = float(np.abs(array).max())
    if most and not 1 / _LARGEST <= most <= _LARGEST:
        raise UsageError(
            f"{name} has entries up to {most:.1g}: between {1 / _LARGEST:g} and {_LARGEST:g} "
            "squares stay within float64: scale them"
        )
    return array


def read_data(path: Path, seed: int = 0) -> Split | None:
    """Read arrays x and y from a .npz or .safetensors file, and split them as `split` does.

    None for a file of samples or of a layer. Raises UsageError, DamagedFile.
    """
    arrays, meta = read_arrays(path)
    if meta and meta.get("format") == EXAMPLES:
        raise UsageError(f"{path} is part of an instance: give its folder")
    if meta is not None or {"a", "b"} <= {name.lower() for name in arrays}:
        return None
    if not {"x", "y"} <= arrays.keys():
        raise UsageError(
            f"{path} holds {', '.join(arrays)[:80] or 'nothing'}: x and y, both (n, k, d), are "
            "wanted; a layer goes with --teacher"
        )
    return split(arrays["x"], arrays["y"], seed, str(path))


def run_on_data(learner: Learner, data: Split, budget: Budget, seed: int = 0) -> Run:
    """Run a learner on the part of the data that is not held out; raises ToolkitError.

    Its hypothesis is measured on the held-out part. If it used up all examples, the outcome is that
    of this measurement, or that a stage of it failed.

    >>> from hardness.runs.registry import parse_learner
    >>> from instances import parse
    >>> drawn = parse("nice:m=1,k=2,d=4").instance(0).examples(0, 1000)
    >>> result = run_on_data(parse_learner("staged"), split(drawn.x, drawn.y), Budget())
    >>> result.outcome.value, result.held_out_error.value < 1e-12
    ('fitted', True)
    """
    hypothesis, usage = learn_once(learner, data, budget, seed)
    if hypothesis.outcome is Outcome.EXAMPLES_SPENT and usage.examples == len(data.loaded):
        failed = Outcome.STAGE_FAILED if hypothesis.details.get("failed") else None
        hypothesis = replace(hypothesis, outcome=failed)
    more: dict[str, Any] = {"data": data.to_dict()}
    return judged(learner, data.family, seed, budget, hypothesis, usage, None, more, data.hold_out)

"""An instance of a user's own layer, on tokens of a user's own law, and what a run says of both."""

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from instances.arguments import located
from instances.checkpoint import read_heads
from instances.errors import UsageError
from instances.family import Instance
from instances.heads import Heads
from instances.layer import AttentionLayer
from instances.teacher import teach
from instances.tokenlaw import NAMES, TokenLaw, given_law, law_of, read_law

_TOKENS = 2  # where no positions say how many


def taught(
    teacher: str | PathLike[str] | AttentionLayer | Heads,
    tokens: str | PathLike[str] | ArrayLike | Mapping[str, ArrayLike] | TokenLaw = "gaussian",
    k: int | None = None,
    noise: Fraction = Fraction(0),
    layer: int | None = None,
    heads: int | None = None,
    seed: int = 0,
) -> tuple[Instance, dict[str, Any]]:
    """Make an instance of a given layer, and the details of a run on it; raises ToolkitError.

    teacher: a layer, or the file or folder of one, of which `layer` and `heads` say what
    `read_heads` asks. tokens: boolean, gaussian, a file of a law, its arrays by name, an embedding
    (V, d) or a law. k: tokens of an example, by default as many as there are positions, else 2.

    >>> import numpy as np
    >>> made = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> instance, details = taught(made, np.eye(4))
    >>> instance.family.k, details["teacher"]["tokens"]
    (2, 'vocabulary of 4 words')
    """
    found = _heads(teacher, layer, heads)
    law = _law(tokens, found.d - found.constant, k)
    count = k or (_TOKENS if law.positions is None else len(law.positions))
    instance = teach(found, law, count, noise, seed)
    whole = instance.layer()
    return instance, {
        "teacher": {
            "source": found.source or "given as arrays",
            "sha256": hashlib.sha256(whole.theta.tobytes() + whole.w.tobytes()).hexdigest(),
            "tokens": instance.family.token_text,
            **({"tokens_sha256": law.sha256} if law.sha256 else {}),
            "notes": list(found.notes),
            "left_out": list(found.left_out),
        }
    }


def _heads(teacher: Any, layer: int | None, heads: int | None) -> Heads:
    if isinstance(teacher, AttentionLayer | Heads):
        if layer is not None or heads is not None:
            raise UsageError("layer or heads given: they are of a checkpoint in a file")
        return teacher if isinstance(teacher, Heads) else Heads.of(teacher)
    if not isinstance(teacher, str | PathLike):
        raise UsageError(
            f"{type(teacher).__name__} given: the path of a layer, or an AttentionLayer, is needed"
        )
    path = Path(located("teacher", teacher))
    if not path.exists():
        raise UsageError(f"{path} given: there is no such file or folder")
    return read_heads(path, layer, heads)


def _law(tokens: Any, d: int, k: int | None) -> TokenLaw:
    if isinstance(tokens, TokenLaw):
        return tokens
    if isinstance(tokens, Mapping):
        return given_law(tokens, d, k)
    if not isinstance(tokens, str | PathLike):
        return given_law({"embedding": tokens}, d, k)
    if str(tokens) in NAMES:
        return law_of(str(tokens), d)
    path = Path(located("tokens", tokens))
    if path.suffix and not path.exists():
        raise UsageError(f"tokens={path} given: there is no such file")
    return read_law(path, d, k)

"""Population counts of packed words under many masks."""

import numpy as np
from numpy.typing import NDArray


def counts(masks: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the ones of each packed vector under each mask: (M, words), (n, words) -> (M, n).

    >>> counts(np.array([[3], [4]], np.uint64), np.array([[1], [7]], np.uint64)).tolist()
    [[1, 2], [0, 1]]
    """
    columns = np.ascontiguousarray(words.T)
    out = np.zeros((len(masks), len(words)), np.uint16)
    for row, mask in zip(out, masks, strict=True):
        for bits, column in zip(mask, columns, strict=True):
            if bits:
                row += np.bitwise_count(column & bits)
    return out

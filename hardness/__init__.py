"""Lower bounds and hardness for learning attention layers: certify, check, learn, compare.

The functions take what the commands of the same names take, and give back records that print.

>>> import hardness
>>> hardness.certify("parity:d=8,m=3").value("sq-dimension")
'35'
"""

from importlib.util import find_spec as _find
from typing import Any

import lazy_loader

__version__ = "1.0.0"

_package = _find("instances")
if _package is None or _package.submodule_search_locations is None:
    raise ImportError(
        f"{_package.origin if _package else 'no file'} is imported as `instances`, which is a "
        "package of hardness-toolkit: rename your file, or start Python in another folder"
    )

from instances.errors import withdrawn  # noqa: E402
from instances.text import result_caption, result_text, save_result  # noqa: E402

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name not in __all__ and (gone := withdrawn("command", name) or withdrawn("name", name)):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {gone}")
    return _attribute(name)


@result_text.register(object)
def _text(result: Any, width: int, colour: bool) -> str:
    from hardness.report.words import text

    return text(result, width, colour)


@save_result.register(object)
def _save(result: Any, path: Any, force: bool) -> None:
    from hardness.report.export import save

    save(result, path, force)


@result_caption.register(object)
def _caption(result: Any) -> str:
    from hardness.report.words import caption

    return caption(result)

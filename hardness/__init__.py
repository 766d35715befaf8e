"""Lower bounds and hardness for learning attention layers: certify, verify, learn, compare."""

from importlib.util import find_spec as _find

__version__ = "0.1.0"
YEAR = 2026  # of this version

_found = _find("instances")
if _found is None or _found.submodule_search_locations is None:
    raise ImportError(
        f"{_found.origin if _found else 'no file'} is imported as `instances`, which is a package "
        "of hardness-toolkit: rename your file, or start Python in another folder"
    )

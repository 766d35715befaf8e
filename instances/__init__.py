"""What is to be learned: attention layers, token distributions, families and their instances."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from instances.arrays import dataset, make_examples, make_reduced, stream
    from instances.coded import Coded, CodedExamples
    from instances.errors import (
        AlreadyExists,
        DamagedFile,
        TooLarge,
        ToolkitError,
        UsageError,
    )
    from instances.family import Examples, Family, Hidden, Instance, Public
    from instances.files import Folder, load_layer, read_folder, save_layer, write_folder
    from instances.layer import AttentionLayer
    from instances.sets import Parity, Profile
    from instances.spec import parse

__all__ = [
    "AlreadyExists",
    "AttentionLayer",
    "Coded",
    "CodedExamples",
    "DamagedFile",
    "Examples",
    "Family",
    "Folder",
    "Hidden",
    "Instance",
    "Parity",
    "Profile",
    "Public",
    "TooLarge",
    "ToolkitError",
    "UsageError",
    "dataset",
    "load_layer",
    "make_examples",
    "make_reduced",
    "parse",
    "read_folder",
    "save_layer",
    "stream",
    "write_folder",
]

lazily(__name__)

from .coded import Coded as Coded, CodedExamples as CodedExamples
from .errors import (
    AlreadyExists as AlreadyExists,
    DamagedFile as DamagedFile,
    TooLarge as TooLarge,
    ToolkitError as ToolkitError,
    UsageError as UsageError,
)
from .sets import Parity as Parity, Profile as Profile
from .family import (
    Examples as Examples,
    Family as Family,
    Hidden as Hidden,
    Instance as Instance,
    Public as Public,
)
from .files import (
    Folder as Folder,
    load_layer as load_layer,
    read_folder as read_folder,
    write_folder as write_folder,
)
from .layer import AttentionLayer as AttentionLayer
from .spec import parse as parse

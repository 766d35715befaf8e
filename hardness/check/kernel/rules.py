"""All files of rules, so that a certificate of any kind is read."""

from . import averages as averages
from . import chain as chain
from . import directions as directions
from . import functions as functions
from . import hidden_sets as hidden_sets
from . import learners as learners
from . import low_degree as low_degree
from . import residues as residues
from . import secret_laws as secret_laws

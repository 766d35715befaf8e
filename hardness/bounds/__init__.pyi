from .certificate import Certificate as Certificate, Claim as Claim
from .certify import certify as certify
from .hidden_sets import Johnson as Johnson
from .terms import BoundParameters as BoundParameters
from .verify import Verification as Verification, verify as verify

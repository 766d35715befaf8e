"""Is a file a certificate of this version, and what does it prove?"""

from typing import Any

from hardness.check import kernel
from hardness.check.certificate import check_certificate
from hardness.check.verdict import Checked
from instances.errors import DamagedFile
from instances.strict import shown
from instances.withdrawn import withdrawn


def check(data: dict[str, Any]) -> Checked:
    """Have the kernel check a certificate.

    Raises Refuted if something does not follow, DamagedFile for a file that is not a certificate.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check(certify(parse("parity:d=8,m=3")).to_dict()).statements[0]
    'any two different members have correlation 0'
    """
    found = data.get("format")
    if found == kernel.FORMAT:
        return check_certificate(data)
    if str(found).startswith("hardness-certificate/"):
        raise DamagedFile(
            f"certificate format {shown(found)} given: this version reads {kernel.FORMAT}; "
            "`hardness certify` makes it again"
        )
    if gone := withdrawn("format", str(found)):
        raise DamagedFile(gone)
    raise DamagedFile(f"this is no certificate: its format is {shown(found)}")

"""What kind of file is it? Certificates and transcripts are checked each in their own way."""

from typing import Any

from hardness.check import kernel
from hardness.check.certificate import check_certificate
from hardness.check.proof import check_proof
from hardness.check.reading import Checked
from hardness.check.transcript import FORMAT, check_transcript


def check(data: dict[str, Any]) -> Checked:
    """Derive the claims of a certificate again, or play a transcript again.

    Raises Refuted where something does not follow, DamagedFile for a file that is neither.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check(certify(parse("parity:d=8,m=3")).to_dict()).statements[0]
    'any two different members have correlation 0'
    """
    kinds = {FORMAT: check_transcript, kernel.FORMAT: check_proof}
    return kinds.get(str(data.get("format")), check_certificate)(data)

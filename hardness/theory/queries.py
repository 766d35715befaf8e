"""What statistical queries cannot do: growth of certified numbers, and what runs beside them."""

from math import comb

from hardness.theory.statement import Measured, Predicted, Statement, exactly


def _predict_dimension(d: int, m: int) -> Predicted:
    return Predicted(low=comb(d - 1, m), high=comb(d - 1, m))


def _dimension(d: int, m: int, seed: int) -> Measured:
    from hardness.lower import certify
    from instances import parse

    return exactly(float(certify(parse(f"parity:d={d},m={m}")).integer("sq-dimension")))


STATEMENTS = (
    Statement(
        name="sq-dimension",
        subject="hardness",
        owner="paper",
        source="CL24",
        says="Two-token layers of m heads have statistical-query dimension d^Ω(m).",
        predicts="C(d - 1, m) hidden sets of m of d - 1 coordinates, pairwise uncorrelated.",
        meaning="The certificate counts the members that the kernel checks; the exponent is m.",
        settings=[{"d": d, "m": m} for m in (2, 3, 4) for d in (16, 64, 256, 1024)],
        predict=_predict_dimension,
        measure=_dimension,
        along="d",
        by="m",
        log="xy",
        y="SQ dimension",
    ),
)

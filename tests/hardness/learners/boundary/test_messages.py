"""Messages of a child: what is not in its bounds is refused."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.learners import child
from hardness.learners.child import HEARD, Ask, Broken, Draw, Floats, Learned
from hardness.learners.remote import reported

pack = msgspec.msgpack.encode
LEARNED = {"layer": None, "predicts": "messages", "outcome": None, "secret": None, "details": b""}


def test_messages_arrive_as_they_were():
    for said in (
        Draw(count=3),
        Ask(kind="pool", sets=[[1, 2], [0]]),
        Learned(secret=None, outcome="ä\0", layer=None, predicts="secret", details=b"{}"),
    ):
        assert HEARD.decode(pack(said)) == said


def test_numbers_arrive_whatever_their_order_in_memory():
    for order in ("C", "F"):
        sent = np.asarray(np.random.default_rng(0).random((30, 20)), order=order)[::2]
        np.testing.assert_array_equal(Floats.of(sent).array(sent.shape), sent)


@pytest.mark.parametrize(
    "said",
    [
        *(None, 3, [], {}, {"op": "none"}, {"op": ["draw"]}, {"op": "draw", "count": -1}),
        *({"op": "draw", "count": True}, {"op": "draw", "count": 1, "more": 1}),
        {"op": "ended", "why": "SOLVED", "told": {"reason": "risk 0"}},
        {"op": "ended", "why": "raised", "told": {"outcome": "solved"}},
        {"op": "ask", "kind": "pool", "sets": [[]] * 5000},
        {"op": "ask", "kind": "pool", "sets": [[1 << 41]]},
        {"op": "ask", "kind": "pool", "sets": [[0] * 40_000]},
        {"op": "learned", **LEARNED, "secret": [0] * 40_000},
        {"op": "values", "y": [[1] * 20_000, b""]},
        {"op": "no values", "reason": "x" * 3000},
    ],
)
def test_what_is_no_message_is_refused(said):
    with pytest.raises(msgspec.MsgspecError):
        HEARD.decode(pack(said))


@pytest.mark.parametrize(
    ("shape", "size"), [((3, 2), 48), ((6,), 48), ((2, 3), 40), ((2, 3), 56), ((1 << 39, 3), 8)]
)
def test_numbers_of_another_shape_are_refused(shape, size):
    with pytest.raises(Broken):
        Floats(shape, bytes(size)).array((2, 3))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), plain))
def test_what_is_reported_can_be_printed_and_stored(details):
    text = json.dumps(reported(child.reported(details)), allow_nan=False, ensure_ascii=False)
    assert text.isprintable()


def test_details_of_any_kind(monkeypatch):
    monkeypatch.setattr(child, "_LIBRARIES", ())  # of which other tests have loaded some
    for details, kept in (
        (3, {}),
        ({"a": object}, {"a": "<class 'object'>"}),
        ({"a": np.arange(3), "b": np.float32(0.5)}, {"a": [0, 1, 2], "b": 0.5}),
        ({"x" * 200: 1}, {"x" * 100: 1}),
        ({"a": "x" * 70_000}, {"dropped": "details of over 65536 characters"}),
        ({"a": [[[[[[[1]]]]]]]}, {"a": [[[[[None]]]]]}),
    ):
        assert reported(child.reported(details)) == kept
    with pytest.raises(Broken):
        reported(b"[" * 60_000)

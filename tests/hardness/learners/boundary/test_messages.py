"""Messages of a child: what is not in its bounds is refused."""

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.learners import child
from hardness.learners.messages import Ask, Draw, Learned, Values, from_child, packed
from hardness.learners.remote import reported

pack = msgspec.msgpack.encode
LEARNED = {"op": "learned", "final": True, "predicts": "messages", "details": b""}


def test_messages_arrive_as_they_were():
    for message in (
        Draw(3),
        Ask("character", [1, 2]),
        Learned(final=True, predicts="baseline", details=b"{}", outcome="ä\0"),
    ):
        assert from_child(packed(message)) == message


def test_numbers_arrive_whatever_their_order_in_memory():
    for order in ("C", "F"):
        sent = np.asarray(np.random.default_rng(0).random((30, 20)), order=order)[::2]
        np.testing.assert_array_equal(from_child(packed(Values(sent))).y, sent)


@pytest.mark.parametrize(
    "message",
    [
        *(None, 3, [], {}, {"op": "none"}, {"op": ["draw"]}, {"op": "draw", "count": -1}),
        *({"op": "draw", "count": True}, {"op": "draw", "count": 1, "more": 1}),
        {"op": "ended", "outcome": "SOLVED", "words": {"reason": "risk 0"}},
        {"op": "ended", "outcome": "CRASHED", "words": {"outcome": "solved"}},
        {"op": "ask", "kind": "character", "subset": [1 << 41]},
        {"op": "ask", "kind": "character", "subset": [0] * 40_000},
        LEARNED | {"secret": [0] * 40_000},
        LEARNED | {"details": b" " * 70_000},
        {"op": "job", "budget": {}, "tau": None},
        {"op": "values", "y": ["<f8", [1] * 20_000, b""]},
        *({"op": "values", "y": ["<f8", shape, bytes(40)]} for shape in ([2, 3], [1 << 39, 3])),
        *({"op": "values", "y": [kind, [1], bytes(8)]} for kind in ("|O8", "<f1", "<M8", ">f8")),
    ],
)
def test_what_is_no_message_is_refused(message):
    with pytest.raises(msgspec.MsgspecError):
        from_child(pack(message))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=15)
@given(st.dictionaries(st.text(), plain))
def test_what_is_reported_can_be_printed_and_stored(details):
    text = json.dumps(reported(child.reported(details)), allow_nan=False, ensure_ascii=False)
    assert text.isprintable()


def test_details_of_any_kind(monkeypatch):
    monkeypatch.setattr(child, "_REPORTED_LIBRARIES", ())  # of which other tests have loaded some
    for details, kept in (
        (3, {}),
        ({"a": object}, {"a": "<class 'object'>"}),
        ({"a": np.arange(3), "b": np.float32(0.5)}, {"a": [0, 1, 2], "b": 0.5}),
        ({"x" * 200: 1}, {"x" * 100: 1}),
        ({"a": "x" * 70_000}, {"dropped": "details of over 65536 characters"}),
        ({"a": [[[[[[[1]]]]]]]}, {"a": [[[[[None]]]]]}),
    ):
        assert reported(child.reported(details)) == kept
    with pytest.raises(ValueError, match="no JSON"):
        reported(b"[" * 60_000)

"""Messages of a learner's process: what is not in its bounds is refused before it is taken."""

import json
import socket
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.learners.isolated.messages import (
    MOST,
    SENT,
    Ask,
    Broken,
    Channel,
    Choose,
    Draw,
    Late,
    Learned,
    Values,
    encoded,
    reported,
)
from hardness.oracles import clock


@pytest.fixture
def ends():
    one, other = socket.socketpair()
    with one, other:
        yield Channel(one), other


def soon():
    return clock.now() + 0.05


def framed(content, size=0):
    return struct.pack("<IQ", len(content), size) + content


def test_messages_arrive_as_they_were(ends):
    here, other = ends
    there = Channel(other)
    said = [Draw(count=3), Ask(kind="pool", sets=[[1, 2], [0]])]
    said += [Learned(secret=None, outcome="ä\0", details="{}")]
    for one in said:
        there.say(one)
    assert [here.hear(None)[0] for _ in said] == said
    here.tell({"op": "drawn", "count": 2}, None, {"x": np.arange(6, dtype=np.int8).reshape(2, 3)})
    message, arrays = there.told()
    assert message == {"op": "drawn", "count": 2}
    assert arrays["x"].dtype == np.int8
    assert arrays["x"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_numbers_arrive_whatever_their_order_in_memory(ends):
    here, other = ends
    for order in ("C", "F"):
        sent = np.asarray(np.random.default_rng(0).random((300, 200)), order=order)[::2]
        said = Values(shape=sent.shape), sent.copy(order)
        sender = threading.Thread(target=Channel(other).say, args=said)
        sender.start()
        said, got = here.hear(None, sent.shape)
        sender.join()
        assert isinstance(said, Values)
        np.testing.assert_array_equal(got, sent)


def test_tokens_arrive_where_they_may_be_chosen(ends):
    here, other = ends
    for count in (0, 2):
        sent = np.arange(6.0 * count).reshape(count, 3, 2)
        Channel(other).say(Choose(shape=sent.shape), sent)
        said, got = here.hear(None, token=(3, 2))
        assert isinstance(said, Choose)
        np.testing.assert_array_equal(got, sent)


def refused(content, size=0, shape=(), token=()):
    """Although none of the numbers that follow has come."""
    here, other = socket.socketpair()
    with here, other:
        other.sendall(framed(content, size))
        with pytest.raises(Broken):
            Channel(here).hear(None, shape, token)


def test_what_is_no_message_is_refused():
    for content in (
        *(b"", b"[]", b"3", b"null", b"{", b"\xff\xfe", b"{}", b'{"op": "none"}'),
        *(b'{"op": ["draw"]}', b"[" * 100_000, b'{"a": ' * 5_000),
        *(b'{"op": "draw", "count": 1} {}', b'{"op": "draw", "count": ' + b"9" * 5000 + b"}"),
        *(b'{"op": "draw", "count": -1}', b'{"op": "draw", "count": true}'),
        *(b'{"op": "draw", "count": 1e3, "more": 1}', b'{"op": "draw", "count": NaN}'),
        b'{"op": "learned", "op": "draw", "count": 1, "sets": []}',
        b'{"op": "learned", "secret": [1e999], "outcome": null, "details": "{}"}',
        b'{"op": "values", "shape": [' + b"9" * 100_000 + b"]}",
    ):
        refused(content)
    for message in (
        {"op": "ended", "why": "SOLVED", "told": {"reason": "risk 0"}},
        {"op": "ask", "kind": "pool", "sets": [[]] * 5000},
        {"op": "ask", "kind": "pool", "sets": [[1 << 41]]},
        {"op": "ask", "kind": "pool", "sets": [[0] * 40_000]},
        {"op": "learned", "secret": [0] * 40_000, "outcome": None, "details": ""},
        {"op": "values", "shape": [1] * 20_000},
        {"op": "values", "shape": [2], "arrays": {"a": 1}},
        {"op": "draw", "count": 1, "shape": [2]},
        {"op": "draw", "count": 1, "more": 1},
        {"op": "no values", "reason": "x" * 3000},
    ):
        refused(json.dumps(message).encode())
    refused(b'{"op": "draw", "count": 1, "shape": [3]}', 24)  # with its numbers


def test_numbers_of_another_shape_are_refused_before_they_are_taken():
    far, most = 1 << 39, SENT // 48
    others = ((2, 3), 40), ((2, 3), 56), ((3, 2), 48), ((6,), 48), ((far, far), 8), ((), 48)
    for shape, size in others:
        refused(json.dumps({"op": "values", "shape": shape}).encode(), size, (2, 3))
    for shape, size, token in (
        ((2, 3, 2), 96, ()),  # predictions or a query's values are due
        ((2, 2, 3), 96, (3, 2)),
        ((2, 3), 48, (3, 2)),
        ((), 48, (3, 2)),
        ((2, 3, 2), 88, (3, 2)),
        ((most + 1, 3, 2), 48 * (most + 1), (3, 2)),
        ((far, 3, 2), 48 * far, (3, 2)),
    ):
        refused(json.dumps({"op": "choose", "shape": shape}).encode(), size, token=token)


def test_a_length_is_bounded_before_anything_is_waited_for(ends):
    here, other = ends
    other.sendall(struct.pack("<IQ", MOST + 1, 0))
    with pytest.raises(Broken, match="bytes"):
        here.hear(None)


def test_the_end_of_a_connection_is_seen(ends):
    here, other = ends
    other.sendall(framed(b'{"op": "draw", "count": 1}')[:20])
    other.close()
    with pytest.raises(Broken):
        here.hear(None)
    with pytest.raises(Broken):
        here.tell({"op": "answer"}, None)


def test_waiting_ends(ends):
    here, other = ends
    other.sendall(framed(b'{"op": "draw", "count": 1}')[:20])
    with pytest.raises(Late):
        here.hear(soon())
    with pytest.raises(Late):  # nobody reads
        here.tell({"op": "drawn"}, soon(), {"x": np.zeros(1 << 20)})
    with pytest.raises(Late):
        here.hear(clock.now() - 1)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), plain))
def test_what_is_reported_can_be_printed_and_stored(details):
    found = reported(encoded(details))
    text = json.dumps(found, allow_nan=False, ensure_ascii=False)
    assert text.isprintable()


def test_details_of_any_kind():
    for details, kept in (
        (3, {}),
        ({"a": object}, {"a": "<class 'object'>"}),
        ({"a": np.arange(3), "b": np.float32(0.5)}, {"a": [0, 1, 2], "b": 0.5}),
        ({"x" * 200: 1}, {"x" * 100: 1}),
        ({"a": "x" * 70_000}, {"dropped": "details of over 65536 characters"}),
        ({"a": [[[[[[[1]]]]]]]}, {"a": [[[[[None]]]]]}),
    ):
        assert reported(encoded(details)) == kept
    with pytest.raises(Broken):
        reported("[" * 60_000)

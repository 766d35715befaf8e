"""The locator against texts whose keys' lines are known: written here line by line."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.compare.sweep.lines import locate

BARE = st.text("ab1-_", min_size=1, max_size=3)
TEXT = st.text(st.sampled_from("ab \"'\\#[]{}=,.é\t"), max_size=6)
SCALAR = st.one_of(st.integers(-9, 9), st.booleans(), TEXT, st.just(0.5))
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(BARE, inner, max_size=3),
    max_leaves=6,
)


def quoted(text):
    out = "".join(f"\\u{ord(c):04x}" if c in '"\\\t' else c for c in text)
    return f'"{out}"'


class Writer:
    """Writes TOML by hand, and notes the line of every path as it goes."""

    def __init__(self, draw):
        self.draw, self.text, self.lines = draw, "", {}

    def note(self, path):
        self.lines[path] = self.text.count("\n") + 1

    def gap(self):
        self.text += self.draw(st.sampled_from(["", " ", "\n", " # ] } \"'\n", "\r\n\t"]))

    def key(self, key):
        self.text += self.draw(st.sampled_from([key, quoted(key), f"'{key}'"]))

    def value(self, value, path):
        if isinstance(value, list):
            self.text += "["
            for index, one in enumerate(value):
                self.gap()
                self.note((*path, index))
                self.value(one, (*path, index))
                self.gap()
                self.text += "," if index + 1 < len(value) else self.draw(st.sampled_from(",\n"))
            self.gap()
            self.text += "]"
        elif isinstance(value, dict):
            self.text += "{"
            for index, (key, one) in enumerate(value.items()):
                self.text += ", " if index else " "
                self.note((*path, key))
                self.key(key)
                self.text += " = "
                self.value(one, (*path, key))
            self.text += " }"
        elif isinstance(value, str):
            self.string(value)
        else:
            self.text += str(value).lower()

    def string(self, value):
        ways = [
            quoted(value),
            f'"""{quoted(value)[1:-1]}"""',
            f'"""\n{quoted(value)[1:-1]}\\\n  """',
        ]
        if "'" not in value:
            ways += [f"'{value}'", f"'''\n{value}'''"]
        self.text += self.draw(st.sampled_from(ways))


@st.composite
def documents(draw):
    out = Writer(draw)
    tables = draw(st.lists(BARE, unique=True, max_size=3))
    for key in draw(st.lists(BARE.filter(lambda k: k not in tables), unique=True, max_size=3)):
        out.note((key,))
        out.key(key)
        out.text += draw(st.sampled_from(["=", " = "]))
        out.value(draw(VALUE), (key,))
        out.text += draw(st.sampled_from(["\n", " # c = 1\n", "\n\n", "\r\n"]))
    for name in tables:
        repeats = draw(st.integers(0, 3))
        for turn in range(max(1, repeats)):
            path = (name, turn) if repeats else (name,)
            out.text += "[[" if repeats else "["
            out.note(path)
            out.key(name)
            out.text += "]]\n" if repeats else "] # [x]\n"
            for key in draw(st.lists(BARE, unique=True, max_size=3)):
                inner = (*path, key, "z") if draw(st.booleans()) else (*path, key)
                out.note(inner)
                out.key(key)
                out.text += " . 'z'" if inner[-1] == "z" and len(inner) > len(path) + 1 else ""
                out.text += "="
                out.value(draw(VALUE), inner)
                out.text += "\n"
    return out


def reached(data, path):
    for step in path:
        data = data[step]
    return data


@given(documents())
def test_every_key_has_its_line(made):
    data = tomllib.loads(made.text)
    found = locate(made.text)
    for path, line in made.lines.items():
        reached(data, path)  # what is written is what tomllib reads
        assert found.of(path) == line, (path, made.text)


def leaves(data, path=()):
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for step, one in inner:
        yield (*path, step)
        if isinstance(one, dict | list):
            yield from leaves(one, (*path, step))


@given(documents())
def test_the_paths_are_those_that_tomllib_reads(made):
    assert set(leaves(tomllib.loads(made.text))) <= set(locate(made.text).at)


NESTED = """\
[a.b]
"x.y".'z' = 1
[[a.b.c]]
k = 1
[[a.b.c]]
k = [
  1, # one
  {p = 2, q.r = '''
]''', s = 3}
]
[a.b.c.d]
t = 1979-05-27 07:32:00
[[a.b.c.d.e]]
[[a.b.c.d.e]]
u = 0x1F
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 1),
        (("a", "b"), 1),
        (("a", "b", "x.y", "z"), 2),
        (("a", "b", "c", 0), 3),
        (("a", "b", "c", 1), 5),
        (("a", "b", "c", 1, "k"), 6),
        (("a", "b", "c", 1, "k", 0), 7),
        (("a", "b", "c", 1, "k", 1), 8),
        (("a", "b", "c", 1, "k", 1, "q", "r"), 8),
        (("a", "b", "c", 1, "k", 1, "s"), 9),
        (("a", "b", "c", 1, "d", "t"), 12),
        (("a", "b", "c", 1, "d", "e", 1, "u"), 15),
        (("a", "b", "c", 1, "d", "e", 1, "not there"), 14),
        (("not there",), 1),
    ],
)
def test_nested_tables(path, line):
    tomllib.loads(NESTED)
    assert locate(NESTED).of(path) == line


@given(st.text(st.sampled_from("ab1=[]{}\"'.,#\n \\"), max_size=40))
def test_any_text_is_read_to_an_end(text):
    assert all(1 <= line <= text.count("\n") + 1 for line in locate(text).at.values())


def test_what_holds_a_mistake_is_the_last_that_was_read():
    assert locate("a = 1\n[[runs]]\nseeds = [1, 2,, 3]\nb = 2").last[:3] == ("runs", 0, "seeds")

"""The manual, README, help texts and public docstrings are short sentences in the field's words.

Covered are all pages, the text of notebooks, help, and the docstrings that the manual shows. Not
covered: two tables whose words are of other files, error messages, comments, other docstrings, and
rungs of ladders in help and docstrings.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import FunctionType

import click
import pytest

import cli
import hardness
from tests.test_docs import ROOT, called, markdown

LONGEST = 35  # words in a sentence; a colon ends it too
TABLES = ("estimator-table.md", "theory-table.md")  # notes of tests/data, words of statements.toml
PROOFS = re.compile(r"mathematics\.md|references\.md|certificate-format\.md")
RUNGS = r"\brungs?\b|\bclimbs?\b|\bclimbing\b"  # of a ladder: what `stress` prints
# What to write instead: an inverted order, an idiom, or a word that the glossary replaces. Words
# that stay are not here: names of families and learners, parameters of specs, quantities of claims,
# family, secret, relative risk, profile and ladder; code is left out before words are looked for.
BANNED = {
    r"(?<!there )(?<!where )\bis no (?!longer|more|less|larger|smaller)\w": "is not a",
    r"\bbeside\b": "next to, compared with",
    r"\bstands? (?:in|for|beside|there|where)\b": "is in, means",
    r"\b(?:is|are) said\b|\bsaid to be\b|\bsays so\b": "reported",
    r"\bat (?:its|their) least\b|\bthe least of\b": "minimum",
    r"\bonce in a million\b|\bin no time\b|\bto be had\b|\bnobody asks\b": "a number, or nothing",
    r"\ball as likely\b|\bas likely as\b|\bdrawn as said\b": "uniformly distributed",
    r"\bnot flattered\b": "limitations",
    r"\bhold(?:s|ing)? (?:\w+ )?against\b": "compare with",
    r"\bcoins?\b": "random labels, internal randomness",
    r"\bmisfit\b": "held-out error",
    r"\bfine print\b": "conditions",
    r"\b(?:green|yellow|red|traffic) lights?\b": "ok, borderline, violated",
    RUNGS: "level, run",
    r"\b(?:open|closed) (?:example|token)s?\b": "informative, uninformative",
    r"\bplaces\b": "coordinates",
    r"\blaws? of\b": "distribution",
    r"\brul(?:es?|ed|ing) out\b": "eliminates",
    r"\binformation floor\b": "information-theoretic bound",
    r"\bRosetta\b|\bportraits?\b|\bfront door\b|\bverbs?\b": "notions compared, label plot, API",
    r"\bof yours\b|\bof a user\b": "your X",
    r"\bcontested\b": "disputed",
    r"(?<![\w.)\]…])\.\d": "a zero before the point",
}
# On pages that are not proofs a noun is repeated.
REPEATED = {r"\b(?:that|those) of\b": "the noun again"}
SPOKEN = {pattern: instead for pattern, instead in BANNED.items() if pattern != RUNGS}


def prose(text: str) -> Iterator[str]:
    """Split a page or a docstring into paragraphs, items and cells, without code and displays."""
    text = re.sub(r"^```.*?^```|^:::\S*|<!--.*?-->|\$\$.*?\$\$", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"^(?:>>>|\.\.\. |!\[| {4,}\S).*$", "", text, flags=re.M)
    text = re.sub(r"\$[^$]*\$|`[^`]*`", "X", text)
    text = re.sub(r"^\|.*", lambda row: re.sub("[|;]", "\n\n", row[0]), text, flags=re.M)
    text = re.sub(r"<a id=[^>]*></a>|\[\[?([^\]]*)\]\]?\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n\s*(?:[-*>]|\d+\.) |\s·\s|\n(?=#)|\n(?=\S+\n  \S)", text):
        if words := block.split():
            yield " ".join(words)


def faults(text: str, banned: dict[str, str]) -> list[str]:
    """List the sentences that are too long and the words that have a better one."""
    told = []
    for block in prose(text):
        for sentence in re.split(r"(?<=[.!?:])[*_)\"”]*\s+", block):
            if len(sentence.split()) > LONGEST:
                told.append(f"{len(sentence.split())} words: {sentence}")
        for pattern, instead in banned.items():
            for hit in re.finditer(pattern, block, re.I):
                around = block[max(0, hit.start() - 30) : hit.end() + 30]
                told.append(f"{hit.group()!r} ({instead}): … {around} …")
    return told


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Give the help text of a command, of its options, and of the commands below it."""
    yield name, cleandoc(command.help or "")
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for below in getattr(command, "commands", {}):
        yield from helps(command.commands[below], f"{name} {below}")


def pages() -> list[Path]:
    found = [
        path for kind in ("md", "ipynb") for path in sorted((ROOT / "docs").rglob(f"*.{kind}"))
    ]
    return [ROOT / "README.md", *(page for page in found if page.name not in TABLES)]


def documented() -> Iterator[tuple[str, str]]:
    """Give the docstrings that the manual shows, of public names and of what they define."""
    extending = (ROOT / "docs/api/extending.md").read_text(encoding="utf-8")
    shown = {f"hardness.{name}": getattr(hardness, name) for name in hardness.__all__}
    for path in re.findall(r"autoclass:: (\S+)", extending):
        module, _, name = path.rpartition(".")
        shown[path] = getattr(import_module(module), name)
    for path, thing in shown.items():
        # The names of parameters are names, and their types.
        yield path, re.sub(r"(?m)^[\w*, ]+ : .*$", "", cleandoc(thing.__doc__ or ""))
        for name, part in vars(thing).items() if isinstance(thing, type) else ():
            is_shown = name == "__call__" or not name.startswith("_")
            if is_shown and isinstance(
                part, FunctionType | property | cached_property | classmethod
            ):
                yield f"{path}.{name}", cleandoc(part.__doc__ or "")


@pytest.mark.parametrize("page", pages(), ids=called)
def test_a_page_is_short_sentences_in_the_words_of_the_field(page):
    banned = BANNED if PROOFS.search(page.name) else BANNED | REPEATED
    assert faults(markdown(page), banned) == []


def test_help_is_short_sentences_in_the_words_of_the_field():
    assert [
        (name, told) for name, text in helps(cli.cli, "hardness") if (told := faults(text, SPOKEN))
    ] == []


def test_public_docstrings_are_short_sentences_in_the_words_of_the_field():
    shown = dict(documented())
    assert {"hardness.learn", "hardness.Samples.evidence", "instances.family.Family"} <= set(shown)
    assert [(name, told) for name, text in shown.items() if (told := faults(text, SPOKEN))] == []


PLANTED = {
    "The bound is " + "very " * 34 + "tight.": "38 words",
    "The bound is no proof.": "'is no p'",
    "A table with both beside\neach other.": "'beside'",
    "- first\n- the law of errors": "'law of'",
    "# A rung\n\nText.": "'rung'",
    "The bound is that of the paper.": "'that of'",
    "| a | b |\n|---|---|\n| `x` | all coins |": "'coins'",
}


@pytest.mark.parametrize(("text", "told"), PLANTED.items())
def test_planted_faults_are_found(text, told):
    assert any(fault.startswith(told) for fault in faults(text, BANNED | REPEATED))


def test_code_and_displays_are_not_prose():
    text = "```text\nbeside a rung\n```\n\n$$coins$$\n\n`beside`, there is no rest."
    assert faults(text, BANNED) == []

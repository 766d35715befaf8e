"""Writes the notebook of docs/python.md from its page, and executes all notebooks.

Outputs are stored: without times, paths or numbers of executions that depend on a machine.
"""

import doctest
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE, BOOKS = ROOT / "docs/python.md", ROOT / "docs/notebooks"
FRONT = BOOKS / "front-door.ipynb"
_PART = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def cells(page: str) -> list[tuple[str, str]]:
    """Cut a page into cells: ("markdown" or "code", source)."""
    found = []
    for i, part in enumerate(_PART.split(page)):
        if i % 2:
            examples = doctest.DocTestParser().get_examples(part)
            found.append(("code", "".join(one.source for one in examples).rstrip()))
        elif part.strip():
            found.append(("markdown", linked(part.strip())))
    return found


def linked(text: str) -> str:
    """Lead the links of the page from the folder of notebooks; those to its notebook, to it."""
    text = text.replace("](notebooks/front-door.ipynb)", "](python.md)")
    return re.sub(r"\]\((?!https?:|#)", "](../", text)


def front() -> Any:
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    made = {"code": new_code_cell, "markdown": new_markdown_cell}
    found = enumerate(cells(PAGE.read_text(encoding="utf-8")))
    return new_notebook(
        cells=[made[kind](source, id=f"front-{i:02}") for i, (kind, source) in found]
    )


def execute(book: Any) -> Any:
    """Execute a notebook, and leave what is the same on every machine."""
    from nbclient import NotebookClient

    NotebookClient(book, timeout=300, record_timing=False, kernel_name="python3").execute()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    for cell in book.cells:
        cell.metadata = {}
    return book


def main() -> None:
    import nbformat

    books = {FRONT: front()}
    books |= {
        path: nbformat.read(path, 4) for path in sorted(BOOKS.glob("*.ipynb")) if path != FRONT
    }
    for path, book in books.items():
        nbformat.write(execute(book), path)
        print(path.relative_to(ROOT), file=sys.stderr)


if __name__ == "__main__":
    main()

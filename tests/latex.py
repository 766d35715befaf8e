"""What LaTeX makes of a text: it compiles, or the test that asks is skipped."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest


def compiled(body, folder, packages=("amsmath", "booktabs", "graphicx")):
    """Compile a document of this body with pdflatex; return how far lines run over, in points.

    Skips the test where there is no pdflatex.
    """
    program = shutil.which("pdflatex")
    if not program or any(not found_by_latex(name) for name in packages):
        pytest.skip("no pdflatex with booktabs here: apt install texlive-latex-recommended")
    used = "".join(f"\\usepackage{{{name}}}\n" for name in packages)
    source = Path(folder) / "paper.tex"
    source.write_text(
        f"\\documentclass{{article}}\n{used}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    line = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", source.name]
    found = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace")
    assert found.returncode == 0, "\n".join(found.stdout.splitlines()[-25:])
    assert source.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
    return [float(one) for one in re.findall(r"Overfull \\hbox \(([\d.]+)pt", found.stdout)]


def found_by_latex(package):
    """Whether LaTeX has a package."""
    line = ["kpsewhich", f"{package}.sty"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0

"""What LaTeX makes of a text: it compiles, or the test that asks is skipped."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest


def compiled(body, folder, sources=""):
    """Compile a document of this body with pdflatex; return how far lines run over, in points.

    Its packages are those that the comments of the body name, amsmath if there are none. sources:
    in BibTeX, of what it cites. Skips the test where there is no pdflatex.
    """
    named = re.findall(r"^% \\usepackage\{(.*)\}$", body, re.M) or ["amsmath"]
    packages = sorted({*",".join(named).split(",")})
    program = shutil.which("pdflatex")
    if (
        not program
        or not shutil.which("bibtex")
        or any(not found_by_latex(name) for name in packages)
    ):
        pytest.skip("no pdflatex with booktabs here: apt install texlive-latex-recommended")
    if sources:
        (Path(folder) / "sources.bib").write_text(sources)
        body += "\n\\bibliographystyle{plain}\\bibliography{sources}"
    used = "".join(f"\\usepackage{{{name}}}\n" for name in packages)
    source = Path(folder) / "paper.tex"
    source.write_text(
        f"\\documentclass{{article}}\n{used}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
    line = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", source.name]
    for program in (line, ["bibtex", "paper"], line, line) if sources else (line,):
        found = subprocess.run(
            program, cwd=folder, capture_output=True, text=True, errors="replace"
        )
        assert found.returncode == 0, "\n".join(found.stdout.splitlines()[-25:])
    assert not sources or "undefined" not in found.stdout, found.stdout
    assert source.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
    return [float(one) for one in re.findall(r"Overfull \\hbox \(([\d.]+)pt", found.stdout)]


def found_by_latex(package):
    """Whether LaTeX has a package."""
    line = ["kpsewhich", f"{package}.sty"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0

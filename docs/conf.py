"""The manual: `make docs`. Pages are plain markdown, which reads as well where it is stored.

The navigation follows the links of index.md (extensions/navigation.py), keys such as [CL24] lead to
the references (links.py), docstrings are plain text (docstrings.py), commands have their help from
click (commands.py), tables of parameters are of what is declared (parameters.py), the gallery is of
figures.toml (gallery.py), formulas need no network (formulas.py).
"""

import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "hardness"
author = "the authors of hardness"
version = release = installed("hardness-toolkit")
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "navigation",
    "docstrings",
    "commands",
    "parameters",
    "gallery",
    "links",
    "formulas",
]
exclude_patterns = ["examples", "data", "extensions", "_build"]
smartquotes_action = "q"  # "--out" keeps its dashes
suppress_warnings = ["myst.header"]  # a page may begin its sections below the second level

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
nb_execution_mode = "off"  # outputs are stored by `make notebooks`, and tests hold them
nb_merge_streams = True

html_theme = "furo"
html_title = "hardness"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False

# What is public is what a package lists; its classes show what they define themselves.
autodoc_default_options = {"members": True, "undoc-members": True, "special-members": "__call__"}
autodoc_member_order = "bysource"
autosummary_generate = False  # tables alone
autodoc_typehints_format = "short"
napoleon_google_docstring = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

# `make pdf`: the mathematics with its proofs as one document.
latex_documents = [
    ("mathematics", "mathematics.tex", "The mathematics of hardness", author, "howto", False)
]
latex_domain_indices = False
_CHARACTERS = {"∎": "\\blacksquare", "−": "-", "Σ": "\\Sigma", "⌈": "\\lceil", "⌉": "\\rceil"}
latex_elements = {
    "papersize": "a4paper",
    "printindex": "",
    "sphinxsetup": "hmargin=25mm, vmargin=25mm, InnerLinkColor={rgb}{0,0.2,0.5}",
    # Sections have numbers of their own.
    "preamble": "\\usepackage{amssymb}\\setcounter{secnumdepth}{-1}"
    + "".join(
        f"\\DeclareUnicodeCharacter{{{ord(character):04X}}}{{\\ensuremath{{{command}}}}}"
        for character, command in _CHARACTERS.items()
    ),
}

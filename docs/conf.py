"""How Sphinx builds the documentation: `make docs` writes it to `docs/_build`."""

import importlib.metadata

import click
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from surefoot.commands.main import cli

project = "Surefoot"
author = "the Surefoot authors"
copyright = author
release = importlib.metadata.version("surefoot")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["_build", "results/*/trials"]

html_theme = "furo"
html_title = "Surefoot"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False

myst_enable_extensions = ["alert", "dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # reports start their sections where their templates do

default_role = "literal"  # docstrings write names as `name`
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True
napoleon_numpy_docstring = False


def _load(command: click.Command) -> None:
    """Make all options before autodoc adds annotations to the records that these derive from."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                _load(found)


_load(cli)


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(str(tex2mathml(node.astext())))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f"<div>{tex2mathml(node.astext(), as_block=True)}</div>\n")
    raise nodes.SkipNode


def _skip(_app: Sphinx, _what: str, _name: str, member: object, skip: bool, _options: object) -> bool | None:
    return skip or type(member).__name__ == "_tuplegetter" or None


def setup(app: Sphinx) -> None:
    """Write formulas as MathML, which browsers draw without a script, and a named tuple's fields once."""
    app.connect("autodoc-skip-member", _skip)  # fields are described under "Attributes" of the class
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))

"""Sphinx configuration.  The reference pages are written from the package's own tables by generate.py."""

import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402
from docutils import nodes  # noqa: E402
from sphinx.errors import ExtensionError  # noqa: E402

import faultsim  # noqa: E402

project = "faultsim"
author = "The faultsim developers"
copyright = f"2026, {author}"
version = release = faultsim.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery", "**.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
# The kernels of notebooks leave nothing in the home folder.
kernels = tempfile.TemporaryDirectory()
os.environ |= dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), kernels.name)
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters say it
numpydoc_show_class_members = False
python_use_unqualified_type_names = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("gallery_pictures.scrape",),
    "capture_repr": ("_repr_html_",),
    "within_subsection_order": "ExampleTitleSortKey",
    "reset_modules": (),
    "run_stale_examples": True,  # what they draw depends on the package, not on their text alone
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "show_memory": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"faultsim {release}"
html_theme_options = {
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_static_path = ["_static"]
html_css_files = ["outputs.css"]
html_js_files = ["names.js"]
html_sidebars = {name: [] for name in ("install", "tutorial", "units", "questions", "citing", "changes")}

generate.write(HERE / "reference" / "generated", HERE / "reproductions")
NOTEBOOKS = generate.notebooks([HERE / "tutorial.md", *(HERE / "notebooks").glob("*.md")])


def link_citations(app, what, name, obj, options, lines):
    """Make links of the citations in a docstring: ``model.md#easy`` and ``[krevat2002]``."""
    for i, line in enumerate(lines):
        line = re.sub(r"\b[\w-]+\.md#([\w-]+)", r":ref:`\g<0> <\1>`", line)
        lines[i] = re.sub(r"(?<!\w)\[([a-z]+\d{4})\]", r":ref:`\g<0> <\1>`", line)


def leave_out(app, what, name, obj, skip, options):
    """Leave out what only engines and tables call, and what classes inherit from others' packages."""
    where = getattr(getattr(obj, "fget", obj), "__module__", None) or project
    ours = where.partition(".")[0] in (project, "sphinx")  # Sphinx stands in for attributes without a value
    return name in generate.INTERNAL or not ours or None


def offer_notebook(app, docname, source):
    """Below the title of a page that is a notebook, the same as a file for Jupyter."""
    if (HERE / f"{docname}.ipynb").exists() and not docname.startswith("auto_gallery/"):
        offer = f"{{download}}`Download as a notebook <{Path(docname).name}.ipynb>`"
        source[0] = re.sub(r"^(# .+\n)", rf"\1\n{offer}\n", source[0], count=1, flags=re.MULTILINE)


def describe_pictures(app, doctree):
    """The picture of a cell is described by the heading above it, for those who cannot see it."""
    for image in doctree.findall(nodes.image):
        section = image.parent
        while section is not None and not isinstance(section, nodes.section):
            section = section.parent
        if section is not None and not image.get("alt"):
            image["alt"] = section.next_node(nodes.title).astext()


def find_pictures(app, exception):
    """Every notebook shows a picture: a figure that does not show itself is no error of its cell."""
    if exception is None and app.builder.name == "html":
        for page in NOTEBOOKS:
            name = page.relative_to(HERE).with_suffix(".html")
            if "<img alt" not in Path(app.outdir, name).read_text(encoding="utf-8"):
                raise ExtensionError(f"{name} shows no picture")


def setup(app):
    app.connect("build-finished", find_pictures)
    app.connect("source-read", offer_notebook)
    app.connect("doctree-read", describe_pictures)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", link_citations)

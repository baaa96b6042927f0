"""How Sphinx builds the site: `make docs`, warnings as errors.

Nothing here needs the network. Where there is one, `NX_FASTONL_DOCS_ONLINE=1` adds links into the documentation of
Python, NumPy, SciPy, NetworkX and scikit-learn, and lets the gallery download the graph of the political blogs.
"""

import inspect
import os
import sys
from contextlib import suppress
from importlib.metadata import version as installed_version
from pathlib import Path

import nx_fastonl
from nx_fastonl.learners.registry import LabelerOptions
from sphinx_gallery.sorting import ExplicitOrder

IS_ONLINE = bool(os.environ.get("NX_FASTONL_DOCS_ONLINE"))

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "nx_fastonl"
author = "The nx_fastonl developers"
project_copyright = f"2026, {author}"
release = installed_version("nx-fastonl")
version = release.split(".dev")[0]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "recorded",
    "unrun",
]
exclude_patterns = ["_build", "gallery/*.rst", "gallery/*.py"]
templates_path = ["_templates"]
default_role = "obj"
language = "en"


def parameter_names():
    """What docstrings have in backticks beside public names: parameters of functions and methods."""
    yield from LabelerOptions.__annotations__
    modules = [
        nx_fastonl.datasets,
        nx_fastonl.experiments,
        nx_fastonl.plotting,
        nx_fastonl.sklearn,
    ]
    for module in [nx_fastonl, *modules]:
        for value in [getattr(module, name) for name in module.__all__]:
            members = vars(value) if inspect.isclass(value) else ()
            functions = [value, *(getattr(value, name) for name in members)]
            for function in filter(callable, functions):
                with suppress(TypeError, ValueError):  # some of those that every class has
                    yield from inspect.signature(function).parameters


# A reference that leads nowhere is a warning.
nitpicky = True
nitpick_ignore = [("py:obj", name) for name in {*parameter_names(), "A", "x", "y"}]

autosummary_generate = True
# Where case does not count in the names of files, its page would be that of `replay`.
autosummary_filename_map = {"nx_fastonl.Replay": "nx_fastonl.Replay-class"}
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # numpydoc's Parameters say it in words
numpydoc_show_class_members = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# A parameter in backticks is no module of Python's.
intersphinx_disabled_reftypes = ["std:doc", "py:obj"]
if IS_ONLINE:
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "networkx": ("https://networkx.org/documentation/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

EXAMPLES = [
    "plot_recommendations.py",
    "plot_from_a_file.py",
    "plot_digits.py",
    "plot_how_sure.py",
    "plot_repel.py",
    "plot_changing.py",
    "plot_arrows.py",
    "plot_communities.py",
    "plot_drop_in_pagerank.py",
    "plot_features.py",
    "plot_political_blogs.py",
    "plot_certified.py",
    "plot_choosing_a_kernel.py",
    "plot_push.py",
]
has_blogs = IS_ONLINE or nx_fastonl.datasets.is_available("political-blogs")
unrun_examples = [] if has_blogs else ["auto_gallery/plot_political_blogs"]
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "within_subsection_order": ExplicitOrder(EXAMPLES),
    # An example whose data cannot be had is shown, but not run; a note says so.
    "filename_pattern": r"/plot_" if has_blogs else r"/plot_(?!political_blogs)",
    "doc_module": ("nx_fastonl",),
    "backreferences_dir": "reference/backreferences",
    "reference_url": {"nx_fastonl": None},
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "nx_fastonl"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "logo": {"text": "nx_fastonl"},
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Pages that are not part of a section have nothing to show beside them.
ALONE = [
    "index",
    "getting_started",
    "benchmarks/index",
    "comparison",
    "development",
    "changelog",
    "citing",
]
html_sidebars = {page: [] for page in ALONE}
# Of a release that is no longer the latest, Read the Docs tells by itself.
if "dev" in release:
    html_theme_options["announcement"] = (
        f"Documentation of the development version {release}. No version has been released yet."
    )


def without_last_blank_line(_app, _docname, source):
    """A doctest needs an empty line before the closing fence; a reader does not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app):
    app.connect("source-read", without_last_blank_line)

"""An example of the gallery that could not run, for want of its data, says so on its page."""

import re

NOTE = """
.. note::

   This page was built where the data of the example could not be had. So the example was not run, and there are no
   pictures. Run it yourself: it downloads what it needs.

"""
# The line below the first title.
UNDERLINE = re.compile(r"^=+\n", re.MULTILINE)


def with_note(text):
    """The text of a page with the note below its title."""
    return UNDERLINE.sub(lambda found: found[0] + NOTE, text, count=1)


def setup(app):
    app.add_config_value("unrun_examples", [], "env", list)

    def add_note(app, docname, source):
        if docname in app.config.unrun_examples:
            source[0] = with_note(source[0])

    app.connect("source-read", add_note)
    return {"parallel_read_safe": True}

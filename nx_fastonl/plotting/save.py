"""Pictures as files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from nx_fastonl._lib.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write the picture in the format that the suffix of the file names. The file is complete or absent."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower().removeprefix("."), dpi=150)
    write_file(path, content.getvalue())

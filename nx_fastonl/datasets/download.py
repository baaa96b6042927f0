"""The folder for downloaded files, and files fetched into it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from nx_fastonl.datasets.files import FILES

__all__ = ["DATA_HOME", "data_folder", "fetch_files"]

# The environment variable that names the folder for downloaded files.
DATA_HOME = "NX_FASTONL_DATA"
# The folder is full, or cannot be written to. Fetching the file elsewhere would not help.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """The folder for downloaded files: where they are kept, and where they are looked for.

    Parameters
    ----------
    data_home : path, optional
        The folder. By default the one that the environment variable ``NX_FASTONL_DATA`` names; if that is not set, the
        user's cache folder.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ImportError
        If the cache folder is needed and pooch, which knows where it is, is not installed.
    ValueError
        If the folder starts with ``~name`` and there is no such user.

    Examples
    --------
    >>> from nx_fastonl.datasets import data_folder
    >>> data_folder("downloads").name
    'downloads'
    """
    chosen = data_home or os.environ.get(DATA_HOME)
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError as error:  # ~name of nobody on this machine
            raise ValueError(f"{chosen} is not a folder: {error}") from error
    return Path(_pooch().os_cache("nx_fastonl"))


def fetch_files(name: str, data_home: str | os.PathLike[str] | None) -> list[Path]:
    """The files of a dataset. Those not in the folder are downloaded; all are checked."""
    pooch = _pooch()
    folder = data_folder(data_home)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file in FILES[name]:
        path = folder / file.name
        if path.exists() and pooch.file_hash(path) != file.sha256:  # pooch would overwrite it
            raise ValueError(f"{path} is not the published file, whose SHA-256 is {file.sha256}; move it away")
        try:
            pooch.retrieve(file.url, f"sha256:{file.sha256}", file.name, folder)
        except OSError as error:  # requests raises one without a connection
            if error.errno in NO_ROOM:
                raise OSError(error.errno, error.strerror, str(path)) from error
            raise ConnectionError(
                f"{file.name} is not in {folder} and could not be downloaded ({type(error).__name__}). "
                f"Fetch {file.url} elsewhere and put it there as {file.name}, "
                f"or set {DATA_HOME} to a folder that has it."
            ) from error
        paths.append(path)
    return paths


def _pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install pooch") from error
    return pooch

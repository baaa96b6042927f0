import errno
import os

import numpy as np
import pooch
import pytest

from nx_fastonl import datasets
from nx_fastonl.datasets.files import FILES, RemoteFile
from tests.conftest import dataset


def test_folder_by_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_HOME, str(tmp_path / "by-environment"))
    assert datasets.data_folder() == tmp_path / "by-environment"
    assert datasets.data_folder(tmp_path) == tmp_path  # the argument has priority


def test_folder_by_default(monkeypatch):
    monkeypatch.delenv(datasets.DATA_HOME, raising=False)
    assert datasets.data_folder() == pooch.os_cache("nx_fastonl")


def test_files_are_taken_from_the_folder_of_the_environment(monkeypatch, tmp_path):
    dataset("cora")
    monkeypatch.setenv(datasets.DATA_HOME, str(datasets.data_folder()))
    assert datasets.is_available("cora")
    assert len(datasets.fetch_cora().graph) == 2_485
    assert not datasets.is_available("cora", tmp_path)


def test_without_a_connection(tmp_path):
    with pytest.raises(ConnectionError) as error:
        datasets.fetch_citeseer(data_home=tmp_path)
    message = str(error.value)
    assert message.startswith(f"citeseer.npz is not in {tmp_path} and could not be downloaded")
    assert FILES["citeseer"][0].url in message
    assert "set NX_FASTONL_DATA to a folder that has it" in message
    assert list(tmp_path.iterdir()) == []


def test_download_is_kept_and_checked(monkeypatch, tmp_path):
    """A download as pooch makes it, from a server that serves a small graph."""
    arrays = {"data": [1, 1], "indices": [1, 0], "indptr": [0, 1, 2], "shape": [2, 2], "labels": [0, 1]}
    np.savez(tmp_path / "served.npz", **{name: np.array(values) for name, values in arrays.items()})
    served = (tmp_path / "served.npz").read_bytes()
    downloads = []

    def download(url, fname, *_args, **_kwargs):
        downloads.append(url)
        fname.write_bytes(served)

    remote = RemoteFile("cora.npz", "https://example.org/cora.npz", pooch.file_hash(tmp_path / "served.npz"))
    monkeypatch.setitem(FILES, "cora", (remote,))
    monkeypatch.setattr("pooch.core.stream_download", download)
    home = tmp_path / "home"
    assert not datasets.is_available("cora", home)
    for _ in range(2):
        assert datasets.fetch_cora(data_home=home).labels == {0: 0, 1: 1}
    assert downloads == ["https://example.org/cora.npz"]
    assert datasets.is_available("cora", home)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_folder_without_room(monkeypatch, tmp_path, number):
    def download(*_args, **_kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pooch.core.stream_download", download)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        datasets.fetch_cora(data_home=tmp_path)
    assert caught.value.filename == str(tmp_path / "cora.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_same_name_is_not_overwritten(tmp_path):
    mine = tmp_path / "cora.npz"
    mine.write_text("my own")
    with pytest.raises(
        ValueError, match=r"cora.npz is not the published file, whose SHA-256 is 6bc9c2bd.*; move it away"
    ):
        datasets.fetch_cora(data_home=tmp_path)
    assert mine.read_text() == "my own"


def test_home_of_an_unknown_user():
    with pytest.raises(ValueError, match="~nobody-of-this-name is not a folder"):
        datasets.data_folder("~nobody-of-this-name")


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        datasets.fetch_cora(data_home=tmp_path / "file")

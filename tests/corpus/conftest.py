"""What the tests of readers and writers share."""

from __future__ import annotations

import pytest


@pytest.fixture
def file(tmp_path):
    """Makes a file of a given content in the test's folder."""

    def make(content: str | bytes, name: str = "train.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make

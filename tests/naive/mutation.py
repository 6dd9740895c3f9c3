"""Files that were valid until something happened to them."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def mutated(draw, texts: st.SearchStrategy[str], marks: list[bytes]) -> bytes:
    """A text as bytes with up to three pieces overwritten, put in or taken out."""
    data = bytearray(draw(texts).encode())
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        piece = draw(st.one_of(st.sampled_from(marks), st.binary(max_size=2)))
        data[at : at + draw(st.integers(0, 2))] = piece
    return bytes(data)

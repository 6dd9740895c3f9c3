"""Training steps that ``train`` and ``tune`` share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from manylabel.cli.models import folder_size
from manylabel.cli.output import counted, note, print_json, readable_size
from manylabel.progress import Clock, peak_memory

if TYPE_CHECKING:
    from manylabel.corpus import Corpus
    from manylabel.corpus.chunks import TextFile
    from manylabel.tagger import Tagger

__all__ = ["fit_tagger", "note_corpus", "note_names", "write_model"]


def note_corpus(corpus: Corpus, clock: Clock, quiet: bool) -> None:
    """Print the size of the corpus and the time it took to read."""
    took = clock.lap("read")
    documents, labels = counted(len(corpus), "document"), counted(corpus.n_labels, "label")
    note(f"Read {documents} with {labels} in {took:.1f} s.", quiet)


def fit_tagger(
    tagger: Tagger,
    documents: Corpus | TextFile | None,
    label_info: str | None,
    clock: Clock,
    quiet: bool,
) -> None:
    """Train on a corpus or a file, and print the time of each phase."""
    note(f"Training {tagger.model_name} ...", quiet)
    tagger.fit(documents, label_info=label_info)
    if documents is not None and hasattr(documents, "label_names"):
        note_names(tagger, documents.label_names, quiet)
    phases = tagger.fit_seconds
    clock.add(phases)
    if phases.get("features", 0) >= 0.1:
        note(f"Chose features in {phases['features']:.1f} s.", quiet)
    if "vectorize" in phases:
        note(f"Counted words in {phases['vectorize']:.1f} s.", quiet)
    note(f"Trained {tagger.model_name} in {phases['train']:.1f} s.", quiet)


def note_names(tagger: Tagger, labels: Iterable[str], quiet: bool) -> None:
    """Say which labels of documents are names in the vocabulary."""
    # Angle brackets make no difference.
    named = {
        name: label
        for name, label in tagger.labels_named(labels).items()
        if name.strip("<>") != label.strip("<>")
    }
    if named:
        name, label = next(iter(named.items()))
        which = "1 label is a name" if len(named) == 1 else f"{len(named):,} labels are names"
        note(f"Detected: {which} in the vocabulary, such as {name!r} for {label}.", quiet)


def write_model(
    tagger: Tagger,
    output: str,
    clock: Clock,
    as_json: bool,
    quiet: bool,
    more: dict[str, Any] | None = None,
) -> None:
    """Save a fitted tagger, and print its size and the memory used."""
    tagger.save(output)
    took, size, memory = clock.lap("save"), folder_size(output), peak_memory()
    note(f"Saved to {output} ({readable_size(size)}) in {took:.1f} s.", quiet)
    if memory is not None:
        note(f"Peak memory: {readable_size(memory)}.", quiet)
    if as_json:
        figures = {
            "model": tagger.model_name,
            "path": output,
            "documents": tagger.n_documents,
            "labels": len(tagger.labels),
            "bytes": size,
            "seconds": clock.seconds,
            "peak_memory_bytes": memory,
        }
        print_json(figures | (more or {}))
    else:
        note(f"Next: manylabel predict {output} FILE", quiet)

"""``manylabel train``: from a corpus to a model folder."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from manylabel.cli.models import (
    check_target,
    folder_size,
    settings_of,
    silence,
    text_options,
)
from manylabel.cli.options import (
    CharNgrams,
    CorpusPath,
    Debug,
    Force,
    Jobs,
    Json,
    KeepTexts,
    LabelInfo,
    Labels,
    Language,
    MaxDf,
    MaxFeatures,
    MinDf,
    ModelName,
    NewModel,
    Ngrams,
    Quiet,
    ReadFormat,
    Seed,
    Separator,
    Settings,
    Stemming,
    StopWords,
    ZeroBased,
)
from manylabel.cli.output import note, print_json, readable_size, working

if TYPE_CHECKING:
    from manylabel.tagger import Tagger

__all__ = ["Clock", "train", "write_model"]


def train(
    corpus: CorpusPath,
    output: NewModel,
    model: ModelName = None,
    settings: Settings = None,
    language: Language = "en",
    stop_words: StopWords = None,
    stemming: Stemming = None,
    ngrams: Ngrams = None,
    char_ngrams: CharNgrams = None,
    min_df: MinDf = 1,
    max_df: MaxDf = None,
    max_features: MaxFeatures = None,
    label_info: LabelInfo = None,
    keep_texts: KeepTexts = True,
    format: ReadFormat = None,
    labels: Labels = None,
    separator: Separator = None,
    zero_based: ZeroBased = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn from documents with labels, and write a model folder.

    Documents are texts, or rows of features; then later documents must have the same features.
    The options about words are for texts. An interrupted training leaves nothing behind, or the
    model that was there before.

    For example:
      manylabel train train.jsonl -o model
      manylabel train train.jsonl -o model --model lcif --set k=50 --set lam=0.3
      manylabel train uutiset.tsv -o malli --language fi --char-ngrams 3-5
      manylabel train bibtex/train.txt.xz -o model --model subset-svm --jobs 2
    """
    check_target(output, force)
    from manylabel.corpus import read
    from manylabel.tagger import DEFAULT_MODEL, Tagger

    words = text_options(
        language,
        stop_words=stop_words,
        stemming=stemming,
        ngrams=ngrams,
        char_ngrams=char_ngrams,
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
    )
    tagger = Tagger(
        DEFAULT_MODEL if model is None else model,
        parameters=settings_of(settings),
        **words,
        keep_texts=keep_texts,
        random_state=seed,
        n_jobs=jobs,
        verbose=not quiet and sys.stderr.isatty(),
    )
    clock = Clock()
    with working(f"Reading {corpus} ...", quiet):
        found = read(corpus, format, labels=labels, separator=separator, zero_based=zero_based)
    took = clock.lap("read")
    note(f"Read {len(found):,} documents with {found.n_labels:,} labels in {took}.", quiet)
    note(f"Training {tagger.model_name} ...", quiet)
    tagger.fit(found, label_info=label_info)
    note(f"Trained {tagger.model_name} in {clock.lap('train')}.", quiet)
    write_model(tagger, output, clock, as_json, quiet)


class Clock:
    """Seconds by what was done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> str:
        """End a phase; its time as people say it."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._last, 3)
        self._last = now
        return f"{self.seconds[name]:.1f} s"


def write_model(
    tagger: Tagger,
    output: str,
    clock: Clock,
    as_json: bool,
    quiet: bool,
    more: dict[str, Any] | None = None,
) -> None:
    """Save a fitted tagger and say so."""
    silence(tagger)
    tagger.save(output)
    took, size = clock.lap("save"), folder_size(output)
    note(f"Saved to {output} ({readable_size(size)}) in {took}.", quiet)
    if as_json:
        figures = {
            "model": tagger.model_name,
            "path": output,
            "documents": tagger.n_documents,
            "labels": len(tagger.labels),
            "bytes": size,
            "seconds": clock.seconds,
        }
        print_json(figures | (more or {}))
    else:
        note(f"Next: manylabel predict {output} FILE", quiet)

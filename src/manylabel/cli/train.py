"""``manylabel train``: train a model on a corpus."""

from __future__ import annotations

import sys
from typing import Any

import typer

from manylabel.cli.compiling import compile_missing
from manylabel.cli.models import check_target, settings_of
from manylabel.cli.options import (
    Dask,
    Debug,
    Effort,
    Force,
    Jobs,
    Json,
    KeepTexts,
    LabelInfo,
    ModelName,
    NewModel,
    Quiet,
    Seed,
    Settings,
    Spool,
    TrainingPath,
    VocabularyFile,
)
from manylabel.cli.reading import Reading
from manylabel.cli.training import fit_tagger, note_corpus, write_model
from manylabel.cli.words import Words
from manylabel.progress import Clock

__all__ = ["train"]


def train(
    output: NewModel,
    corpus: TrainingPath = None,
    model: ModelName = None,
    settings: Settings = None,
    effort: Effort = None,
    words: Words = Words(),
    label_info: LabelInfo = None,
    vocabulary: VocabularyFile = None,
    keep_texts: KeepTexts = True,
    reading: Reading = Reading(),
    seed: Seed = 0,
    jobs: Jobs = -1,
    dask: Dask = None,
    spool: Spool = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train a model on documents with labels.

    Writes a model folder. Documents are texts, or rows of features; new documents then need the
    same features. The options about words are for texts. An interrupted training leaves an
    existing model unchanged. On a cluster, the workers read and count files of JSON Lines, TSV and
    CSV, plain or compressed, and no process needs memory for all texts.

    With a vocabulary, the model also finds labels by their names, even labels that no document
    has. Documents may have the identifiers of labels or their preferred names. A vocabulary
    without documents gives a model that `manylabel learn` improves.

    For example:
      manylabel train train.jsonl -o model
      manylabel train train.jsonl -o model --effort quick
      manylabel train train.jsonl -o model --model lcif --set k=50 --set lam=0.3
      manylabel train uutiset.tsv -o malli --language fi --char-ngrams 3-5
      manylabel train train.jsonl -o model --vocabulary stw.ttl
      manylabel train -o model --vocabulary stw.ttl
      manylabel train bibtex/train.txt.xz -o model --model subset-svm --jobs 2
    """
    check_target(output, force)
    if corpus is None and vocabulary is None:
        raise typer.BadParameter("give CORPUS, --vocabulary, or both.")
    from manylabel.cli.clusters import cluster_at
    from manylabel.tagger import DEFAULT_MODEL, Tagger

    tagger = Tagger(
        DEFAULT_MODEL if model is None else model,
        parameters=settings_of(settings),
        **words.of_tagger(),
        vocabulary=vocabulary,
        effort=effort,
        keep_texts=keep_texts,
        random_state=seed,
        n_jobs=jobs,
        verbose=not quiet and sys.stderr.isatty(),
    )
    tagger.check_parameters()
    if model is None:
        compile_missing(quiet=quiet, will_train=True)
    clock = Clock()
    documents: Any = None
    if corpus is not None and dask is not None:
        documents = reading.text_file(corpus, quiet)
    if corpus is not None and documents is None:
        documents = reading.corpus(corpus, quiet)
        note_corpus(documents, clock, quiet)
    with cluster_at(dask, spool, output, quiet):
        fit_tagger(tagger, documents, label_info, clock, quiet)
    write_model(tagger, output, clock, as_json, quiet)

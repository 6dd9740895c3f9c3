"""Every table and figure of the three papers: what became of it here, and why.

An item with a preset is judged by what was run. The others say in words where they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from manylabel.compare.results import Results
from manylabel.compare.summary import claims_held, judged_values

__all__ = ["FUTURE", "ITEMS", "Item", "future_table", "inventory_table", "status_of"]

_LCIF, _SUBSET, _RUBIN = "Feremans 2020", "Papanikolaou 2017", "Rubin 2012"
_NO_CORPORA = "not reproduced"


@dataclass(frozen=True)
class Item:
    """A table or figure.

    Parameters
    ----------
    paper, name, what : str
    preset : str, optional
        The comparison that decides; what it measures is counted in ``status``.
    status : str
        Where no comparison decides.
    cause : str
        Why it differs, or what stands in the way.
    metrics : tuple of str
        Only these measures of the preset; all of them if empty.
    """

    paper: str
    name: str
    what: str
    preset: str | None = None
    status: str = ""
    cause: str = ""
    metrics: tuple[str, ...] = ()


ITEMS = (
    Item(_LCIF, "Table 1", "corpora", status="reached",
         cause="Corel5k's official training part has 4,500 documents; the paper prints 5,000. The "
         "five extreme corpora are not here."),
    Item(_LCIF, "Table 2", "quality, five large corpora", "lcif-table-2",
         cause="BR-SMO is an SVM with hinge loss; ours has squared hinge loss (Bibtex macro F1 "
         "-0.007). ML-kNN and IBLR of the paper use Euclidean distance, ours cosine. IMDB-F has "
         "no official split. Macro F1 on Medical is a mean of 45 labels, with a standard error of "
         "0.065 for LCIF and 0.049 for Instance kNN: what they lack of the paper is 0.037 and "
         "0.031. Feature kNN on Bibtex, accuracy and micro F1: no cause is known."),
    Item(_LCIF, "Figure 1", "label thresholds on Corel5k", status="not run yet",
         cause="The rows 'LCIF, label thresholds' of table 2 have the macro F1; the bars are not "
         "drawn."),
    Item(_LCIF, "Table 3", "quality, five extreme corpora", status=_NO_CORPORA,
         cause="None of the five corpora is here. `lcif-table-3` has the same measures, micro and "
         "macro F1 among them, on EURLEX57K."),
    Item(_LCIF, "Table 4", "rows evaluated by four searches", status="search",
         cause="Plain cosine on the features as they are. Fewer rows are better; 1 % is the same."),
    Item(_LCIF, "Table 5", "milliseconds of the searches", status="shown for other corpora",
         cause="The paper's corpora are not here, and its times are those of another machine."),
    Item(_LCIF, "Table 6", "seconds in all, large corpora", "lcif-table-2",
         cause="Times are of other machines: the paper's had 16 cores and 64 threads.",
         metrics=("seconds",)),
    Item(_LCIF, "Table 7", "seconds, extreme corpora", status=_NO_CORPORA,
         cause="The corpora are not here."),
    Item(_SUBSET, "Table 1", "corpora", status="reached",
         cause="Delicious after dropping documents without labels: 12,910 and 3,181. Mediamill, "
         "EUR-Lex and the four large corpora are not here."),
    Item(_SUBSET, "Figure 1", "graphical model", status="reached", cause="Nothing to measure."),
    Item(_SUBSET, "Table 2", "micro and macro F1", "subset-llda-tables-2-4",
         metrics=("micro-f1", "macro-f1-one"),
         cause="Two of eight corpora are here. FastXML and PfastreXML are our own programs. Subset "
         "LLDA on Delicious: the paper does not say whether the prior is added to the counts, and "
         "its values lie between both readings; the preset has the counts."),
    Item(_SUBSET, "Table 3", "P@1 and P@5", "subset-llda-tables-2-4", metrics=("p@1", "p@5"),
         cause="FastXML on Delicious stays below the paper on its split and with its program's "
         "settings; no cause is known."),
    Item(_SUBSET, "Table 4", "seconds", "subset-llda-tables-2-4", metrics=("seconds",),
         cause="Times are of other machines."),
    Item(_RUBIN, "Figures 1, 2, table 4", "statistics of labels", status="reached",
         cause="`manylabel stats` counts and draws the same for any corpus. NYT and RCV1-V2 are "
         "not here, and EURLEX57K stands for EUR-Lex."),
    Item(_RUBIN, "Figure 3, tables 1, 2", "words of labels, labels of topics",
         status="not reproduced",
         cause="NYT is not here. `label_words` and `topic_labels` give both for any corpus; a "
         "page of them for EURLEX57K is not made yet."),
    Item(_RUBIN, "Figure 4, tables 3, 5", "models, complexity, tasks", status="reached",
         cause="Nothing to measure: [topic models](models/topics.md)."),
    Item(_RUBIN, "Figure 5", "one document, four models", status="not reproduced",
         cause="NYT is not here. `explain` gives it for any document."),
    Item(_RUBIN, "Figures 6, 7", "documents as pivots", "rubin-figures-6-7-10-11",
         cause="Values are in pictures only, so the paper's words are checked. Chains are fewer "
         "than the paper's.", metrics=("document",)),
    Item(_RUBIN, "Figures 8, 9", "frequency, cardinality and quality", status="not reproduced",
         cause="They need five corpora; three are here."),
    Item(_RUBIN, "Figures 10, 11", "labels as pivots", "rubin-figures-6-7-10-11",
         cause="As for figures 6 and 7.", metrics=("label",)),
    Item(_RUBIN, "Figure 12", "average precision by frequency", "rubin-figures-6-7-10-11",
         cause="EURLEX57K stands for EUR-Lex; see its table by training documents.",
         metrics=("nothing",)),
    Item(_RUBIN, "Figure 13", "how often each model is best", "rubin-figures-6-7-10-11",
         cause="On Yahoo only: SVMs are not tuned on EURLEX57K.", metrics=("nothing",)),
    Item(_RUBIN, "Table 6", "settings", status="reached",
         cause="The presets have them, with its swapped rows put right; a test compares."),
    Item(_RUBIN, "Figures 14 to 16", "beside other papers", status="not reproduced",
         cause="The values compared are of EUR-Lex, RCV1-V2 and other splits of Yahoo."),
    Item(_RUBIN, "Appendix B", "fast and proper inference, the number of topics",
         status="not run yet", cause="`sampler` and `n_topics` of DependencyLDA."),
)  # fmt: skip

#: Paper, what it leaves to others, where we stand.
FUTURE = (
    (_LCIF, "Ensembles by boosting or stacking", "Done: [Ensemble](models/ensemble.md) stacks "
     "neighbours, features, linear models, topics and trees by curves learned on held-out scores."),
    (_LCIF, "Word or sentence embeddings", "Partly: models read other views of documents beside "
     "words; no embeddings come with the package."),
    (_LCIF, "Other prediction functions of neighbours", "Done: BRkNN, second-order votes (our "
     "reading), powers and weightings are measured in table 2."),
    (_LCIF, "Pruning of whole dimensions (max-score)", "Done: the strategy `maxscore`, which the "
     "default search takes where it is faster."),
    (_LCIF, "More ideas of collaborative filtering", "Not begun."),
    (_SUBSET, "More samples, chains and trees: time against quality", "The preset "
     "`subset-llda-trade-off` measures it."),
    (_SUBSET, "Faster LDA", "Done: sparse draws; the seconds are in table 4."),
    (_SUBSET, "Other ways to candidate labels", "Partly: neighbours weigh by similarity; Ensemble "
     "has further sources."),
    (_RUBIN, "Discriminative and generative models together", "Done in one way: Ensemble adds up "
     "log-odds of SVMs and of a topic model. No model is trained for both at once."),
    (_RUBIN, "Semi-supervised learning", "Not begun."),
    (_RUBIN, "Other domains, such as images", "Any counts will do: Corel5k is one of table 2's "
     "corpora."),
)  # fmt: skip


def status_of(item: Item, by_preset: Mapping[str, Results], searched: str) -> str:
    """What became of an item.

    Parameters
    ----------
    item : Item
    by_preset : mapping of str to Results
        By preset.
    searched : str
        What became of the searches.
    """
    if item.preset is None:
        return searched if item.status == "search" else item.status
    results = by_preset.get(item.preset)
    if results is None or not results.finished:
        return "not run yet"
    missing = len(results.cells) - len(results.finished)
    later = f"; {missing} of {len(results.cells)} runs not run yet" if missing else ""
    if results.plan.claims:
        held, total = claims_held(results, item.metrics)
        return (f"{held} of {total} statements hold" if total else "shown") + later
    if item.metrics == ("seconds",):
        return "shown" + later
    better, same, worse = judged_values(results, item.metrics)
    return f"{better} better, {same} reached, {worse} not reached{later}"


def inventory_table(by_preset: Mapping[str, Results], searched: str = "not run yet") -> str:
    """All items with what became of them."""
    rows = [
        [item.paper, item.name, item.what, status_of(item, by_preset, searched), item.cause]
        for item in ITEMS
    ]
    return _prose_table(["Paper", "Item", "What", "Status", "Cause of differences"], rows)


def future_table() -> str:
    """What the papers call future work, and where we stand."""
    return _prose_table(["Paper", "Future work", "Where we stand"], [list(row) for row in FUTURE])


def _prose_table(header: list[str], rows: list[list[str]]) -> str:
    """A table of sentences, which no column is wide enough for."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

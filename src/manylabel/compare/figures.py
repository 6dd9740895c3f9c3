"""The papers' figures: tables, statements and pictures from the runs of a preset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from manylabel.compare import best_models, other_papers, standing, thresholding
from manylabel.compare.paper_plots import draw_standings, draw_thresholds
from manylabel.compare.presets.lcif import THRESHOLD_ROWS
from manylabel.compare.results import Results
from manylabel.compare.statements import Statement, statement_table
from manylabel.exceptions import MissingExtraError

__all__ = ["FIGURES", "PaperFigure", "figure_sections", "figure_status"]

_RUBIN = "rubin-figures-6-7-10-11"
_CENTRED = (
    "Values minus the mean of the models in the table, for each corpus. Corpora are in the order "
    "of their {}."
)
_VANILLA = " Where SVMs were not tuned, a vanilla SVM takes their place."


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper, or several of one kind.

    Parameters
    ----------
    preset : str
        The comparison whose runs it shows.
    heading, intro : str
    tables : tuple of callable
        Each makes a table in Markdown, empty without its runs. The first is the figure itself.
    statements : callable
    rows : tuple of str
        The titles of the rows that it needs.
    draw : callable, optional
        Makes the picture as SVG, empty without its runs.
    """

    preset: str
    heading: str
    intro: str
    tables: tuple[Callable[[Results], str], ...]
    statements: Callable[[Results], list[Statement]]
    rows: tuple[str, ...]
    draw: Callable[[Results], str] | None = None

    def n_missing(self, results: Results) -> tuple[int, int]:
        """How many of the runs that it needs are missing, and how many it needs."""
        needed = [cell for cell in results.cells if cell.row.title in self.rows]
        return sum(cell.key not in results.finished for cell in needed), len(needed)


#: Name, also of the picture's file -> figure.
FIGURES: dict[str, PaperFigure] = {
    "lcif-figure-1": PaperFigure(
        "lcif-table-2",
        "One threshold or one for each label (figure 1)",
        "",
        (thresholding.match_table, thresholding.gain_table),
        thresholding.threshold_statements,
        THRESHOLD_ROWS,
        draw_thresholds,
    ),
    "rubin-figure-8": PaperFigure(
        _RUBIN,
        "Quality by label frequency (figure 8)",
        _CENTRED.format("median training documents per label")
        + _VANILLA
        + " It has hollow marks in the picture.",
        (partial(standing.standing_table, axis=standing.BY_FREQUENCY),),
        standing.frequency_statements,
        standing.MODELS,
        partial(draw_standings, axis=standing.BY_FREQUENCY),
    ),
    "rubin-figure-9": PaperFigure(
        _RUBIN,
        "Quality by labels per document (figure 9)",
        _CENTRED.format("labels per document"),
        (partial(standing.standing_table, axis=standing.BY_CARDINALITY),),
        standing.cardinality_statements,
        standing.BY_CARDINALITY.models,
        partial(draw_standings, axis=standing.BY_CARDINALITY),
    ),
    "rubin-figure-13": PaperFigure(
        _RUBIN,
        "How often Dependency-LDA and SVMs are best (figure 13)",
        "By how many measures a model is the best of the paper's models that were run. Corpora are "
        "in the order of their median training documents per label." + _VANILLA,
        (best_models.best_table,),
        best_models.best_statements,
        standing.MODELS,
    ),
    "rubin-figures-14-15": PaperFigure(
        _RUBIN,
        "Measures for comparison with other papers (figures 14 and 15)",
        "The paper has its values in figures only; these are ours. EURLEX57K takes the place of "
        "EUR-Lex.",
        (other_papers.other_papers_table,),
        other_papers.other_papers_statements,
        standing.MODELS,
    ),
}


def figure_sections(name: str, results: Results) -> tuple[list[str], dict[str, str]]:
    """The figures of a preset in Markdown, and their pictures.

    Parameters
    ----------
    name : str
        The preset.
    results : Results

    Returns
    -------
    sections : list of str
    pictures : dict of str to str
        Name of a file -> SVG; the sections link to them in the folder ``images``. Empty without
        Matplotlib.
    """
    sections: list[str] = []
    pictures: dict[str, str] = {}
    for figure_name, figure in FIGURES.items():
        if figure.preset != name:
            continue
        tables = [made for make in figure.tables if (made := make(results))]
        if not tables:
            continue
        sections += [f"### {figure.heading}\n", *([figure.intro + "\n"] if figure.intro else [])]
        if picture := _picture(figure, results):
            pictures[f"{figure_name}.svg"] = picture
            sections.append(f"![{figure.heading}](images/{figure_name}.svg)\n")
        sections += [*tables, statement_table(figure.statements(results))]
    return [section for section in sections if section], pictures


def _picture(figure: PaperFigure, results: Results) -> str:
    try:
        return "" if figure.draw is None else figure.draw(results)
    except MissingExtraError:
        return ""


def figure_status(name: str, by_preset: Mapping[str, Results]) -> str:
    """The status of a figure: not run yet, shown, or how many statements hold.

    It is not shown if the runs are there, but did not keep what it needs.
    """
    figure = FIGURES[name]
    results = by_preset.get(figure.preset)
    if results is None:
        return "not run yet"
    missing, needed = figure.n_missing(results)
    if not figure.tables[0](results):
        return "not run yet" if missing or not needed else "not shown"
    statements = figure.statements(results)
    held = sum(each.holds for each in statements)
    status = f"{held} of {len(statements)} statements hold" if statements else "shown"
    return f"{status}; {missing} of {needed} runs missing" if missing else status

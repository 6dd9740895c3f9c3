"""Tables that only one of the papers has."""

from __future__ import annotations

from manylabel.compare.frequency import frequency_curves
from manylabel.compare.plan import Problem
from manylabel.compare.results import LEVEL, Results
from manylabel.compare.significance import worse_than_best, z_test
from manylabel.compare.tables import markdown_table, measure_title, number, seconds
from manylabel.metrics import get_measure

__all__ = ["frequency_table", "time_table", "z_table"]


def z_table(results: Results, problem: Problem) -> str:
    """Compare a row with the best of the other published rows, by the paper's test and by ours."""
    title = results.plan.z_tests
    lines = {line.title: line for line in results.lines[problem.name] if line.values}
    rivals = [line for line in lines.values() if line.published and line.title != title]
    if title not in lines or not rivals:
        return ""
    rows = []
    for name in results.plan.metrics:
        sign = 1 if get_measure(name).greater_is_better else -1
        best = max(rivals, key=lambda line: sign * line.values[name].mean)
        units = {each: results.units(problem, each, name) for each in (title, best.title)}
        own, other = units[title], units[best.title]
        if own is None or other is None or own.shape != other.shape:
            continue
        bootstrap = worse_than_best({title: own, best.title: other}, title)[best.title]
        values = (number(lines[each].values[name].mean) for each in (best.title, title))
        p_values = (f"{p:.4f}" for p in (z_test(own, other), bootstrap))
        rows.append([measure_title(name), best.title, *values, *p_values])
    header = ["Measure", "Best of the others", "Its value", title, "p, z-test", "p, bootstrap"]
    return (
        f"{title} compared with the best of the paper's other methods that were run, by the "
        f"paper's z-test (here paired) and by our bootstrap.\n\n{markdown_table(header, rows)}\n"
        if rows
        else ""
    )


def frequency_table(results: Results, problem: Problem) -> str:
    """Figure 12 of Rubin et al. as a table; empty without label-pivoted measures."""
    if not any(name.startswith("label-") for name in results.plan.metrics):
        return ""
    curves = frequency_curves(results, problem)
    if not curves:
        return ""
    reference = curves[0]
    rows = []
    for position, name in enumerate(reference.bins):
        cells = []
        for curve in curves:
            level = curve.differs is not None and not curve.differs[position]
            cells.append(("≈ " if level else "") + number(curve.values[position]))
        rows.append([name, f"{reference.n_labels[position]:,}", *cells])
    header = ["Training documents", "Labels", *(curve.title for curve in curves)]
    return (
        "Mean average precision of labels by how many training documents they have (figure 12); "
        f"≈ does not differ significantly from {reference.title} (paired t-test, p ≥ {LEVEL}):\n\n"
        f"{markdown_table(header, rows)}\n"
    )


def time_table(results: Results, problem: Problem) -> str:
    """Tables 6 and 7 of Feremans et al.: seconds to train and to test, with tuning separate."""
    rows = []
    for line in results.lines[problem.name]:
        runs = results.runs(problem, line.title)
        if not runs or not all("tune" in run.record["seconds"] for run in runs):
            continue
        tune = line.seconds["tune"]
        rest = max(0.0, line.seconds["train"] + line.seconds["predict"] - tune)
        rows.append([line.title, seconds(tune) if tune else "–", seconds(rest)])
    if not any(row[1] != "–" for row in rows):
        return ""
    return (
        "Total seconds, with tuning shown separately (tables 6 and 7). A row that is tuned for "
        "each measure is fitted once per measure, or once per setting if k was chosen:\n\n"
        f"{markdown_table(['Model', 'Tune', 'Train and predict'], rows)}\n"
    )

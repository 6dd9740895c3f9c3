"""An audit as one self-contained HTML page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.audit.report import AuditReport, Finding, Witness

__all__ = ["page"]

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
h1,h2{line-height:1.2}h2{margin-top:2.5rem}
details{border:1px solid #ddd;border-radius:6px;padding:.5rem .8rem;margin:.4rem 0}
summary{cursor:pointer}.wrong{color:#a4161a}.missing{color:#7a5200}
small,.dim{color:#555}table{border-collapse:collapse}td,th{padding:.15rem .8rem .15rem 0;
text-align:left;vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}
@media(prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}.wrong{color:#ff8f8f}
.missing{color:#f0c36d}small,.dim{color:#aaa}details{border-color:#444}}
"""


def page(report: AuditReport) -> str:
    """The whole report."""
    sections = [
        _section(
            "Labels that look wrong or missing",
            "Most suspicious first. The probability comes from models that have not seen the "
            "document; the parts sum to its log-odds.",
            [_finding(finding) for finding in report],
        ),
        _section(
            "Nearly identical documents with different labels",
            "",
            [_duplicate(pair) for pair in report.duplicates],
        ),
        _section(
            "Labels that cannot be told apart",
            "Two labels that could perhaps be merged. The likeness is 1 if documents with only one "
            "of them get the other as readily as documents that have it.",
            [_same(pair) for pair in report.same],
        ),
        _section(
            "Labels that may have two meanings",
            "Their documents fall into two groups with little in common.",
            [_meanings(each) for each in report.two_meanings],
        ),
        _section(
            "Labels that cannot be learned",
            "Nothing in the other documents leads to these labels.",
            [
                f"<li>{escape(each['name'])} <small>{counted(each['documents'], 'document')}, mean "
                f"probability {each['probability']:.3f}</small></li>"
                for each in report.unlearned
            ],
        ),
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Audit of labels</title><style>{_STYLE}</style><body><h1>Audit of labels</h1>"
        f"<p>{counted(report.n_documents, 'document')}, {counted(report.n_labels, 'label')}.</p>"
        f"{''.join(sections)}</body></html>\n"
    )


def _section(title: str, sentence: str, items: list[str]) -> str:
    inside = "".join(items) or "<p>None found.</p>"
    return f"<section><h2>{title} ({len(items):,})</h2><p>{sentence}</p>{inside}</section>"


def _finding(finding: Finding) -> str:
    from manylabel.audit.report import title_of

    looks = "wrong" if finding.given else "missing"
    reasons = "".join(
        f'<tr><td class="n">{share:+.2f}</td><td>{escape(title_of(name))}</td></tr>'
        for name, share in sorted(finding.reasons.items(), key=lambda item: -item[1])
    )
    return (
        f'<details><summary><b class="{looks}">{looks}</b> {escape(finding.name)} '
        f"<small>{escape(finding.id)}: {escape(finding.text[:80])}</small></summary>"
        f"<p>{escape(finding.text)}</p><p>Probability {finding.probability:.4f}; an error with "
        f"probability {finding.error:.2f}.</p><table>{reasons}</table>"
        f"{_witnesses('Most similar documents with the label', finding.having)}"
        f"{_witnesses('Most similar documents without it', finding.lacking)}</details>"
    )


def _witnesses(title: str, witnesses: list[Witness]) -> str:
    listed = "".join(
        f"<li>{escape(each.id)} <small>similarity {each.similarity:.2f}</small> "
        f"{escape(each.text[:100])}</li>"
        for each in witnesses
    )
    return f"<p><b>{title}</b></p><ul>{listed}</ul>" if listed else ""


def _duplicate(pair: dict[str, Any]) -> str:
    first, second = pair["ids"]
    return (
        f"<details><summary>{escape(first)} and {escape(second)} <small>similarity "
        f"{pair['similarity']:.3f}</small></summary><p>{escape(pair['text'])}</p>"
        f"<p>Only {escape(first)}: {escape(', '.join(pair['only-first']) or 'nothing')}<br>"
        f"Only {escape(second)}: {escape(', '.join(pair['only-second']) or 'nothing')}</p>"
        "</details>"
    )


def _same(pair: dict[str, Any]) -> str:
    first, second = pair["labels"]
    return (
        f"<li>{escape(first['name'])} and {escape(second['name'])} <small>likeness "
        f"{pair['likeness']:.2f}, together on {counted(pair['together'], 'document')}</small></li>"
    )


def _meanings(each: dict[str, Any]) -> str:
    groups = "".join(
        "<ul>"
        + "".join(f"<li>{escape(d['id'])} {escape(d['text'][:100])}</li>" for d in group)
        + "</ul>"
        for group in each["examples"]
    )
    return f"<details><summary>{escape(each['name'])}</summary>{groups}</details>"

"""Reports on suspicious labels, with names and texts."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel.corpus.files import atomic_write
from manylabel.evidence import KINDS
from manylabel.exceptions import CorpusError, InputError
from manylabel.rendering import as_text

if TYPE_CHECKING:
    from rich.table import Table

    from manylabel.audit import Audit

__all__ = ["AuditReport", "Finding", "Witness", "decided", "read_decisions", "report_of"]

#: Characters of a text to show.
_SHOWN = 160
#: Shares of the log-odds below this are not named in a summary.
_WEAK = 0.05
_DECISIONS = ("add", "remove", "keep")


@dataclass(frozen=True)
class Witness:
    """A similar document, which has the label or does not.

    Attributes
    ----------
    id : str
    similarity : float
    text : str
        Its beginning.
    """

    id: str
    similarity: float
    text: str


@dataclass(frozen=True)
class Finding:
    """A label of a document that looks wrong or missing.

    Attributes
    ----------
    id, label, name, text : str
        Of the document and the label; the text's beginning.
    given : bool
        Whether the document has the label: then it looks wrong, otherwise missing.
    probability : float
        That the document has the label, from models that have not seen the document.
    error : float
        The probability that the label is wrong, or missing.
    reasons : dict of str to float
        What each scorer, and the label's frequency ("prior"), add to the log-odds of
        ``probability``; they sum to it.
    having, lacking : list of Witness
        The most similar documents that have the label, and those that do not.
    """

    id: str
    label: str
    name: str
    text: str
    given: bool
    probability: float
    error: float
    reasons: dict[str, float]
    having: list[Witness] = field(default_factory=list)
    lacking: list[Witness] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """The two strongest reasons, in a few words."""
        shares = {
            name: share
            for name, share in self.reasons.items()
            # These two say nothing about this label of this document.
            if name not in ("prior", "rivals") and abs(share) >= _WEAK
        }
        strongest = sorted(shares, key=lambda name: -abs(shares[name]))[:2]
        named = [f"{name} {shares[name]:+.1f}" for name in strongest]
        return ", ".join(named) or "nothing points to it"

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON, with a title for each reason."""
        return asdict(self) | {"titles": {name: title_of(name) for name in self.reasons}}


class AuditReport(Sequence[Finding]):
    """What looks wrong with the labels of documents, most suspicious first; prints as a table.

    Attributes
    ----------
    n_documents, n_labels : int
    duplicates : list of dict
        Nearly identical documents with different labels.
    same : list of dict
        Labels that cannot be told apart.
    two_meanings : list of dict
        Labels whose documents fall into two groups.
    unlearned : list of dict
        Labels that other documents do not predict.
    """

    def __init__(
        self,
        findings: list[Finding],
        n_documents: int,
        n_labels: int,
        *,
        duplicates: list[dict[str, Any]],
        same: list[dict[str, Any]],
        two_meanings: list[dict[str, Any]],
        unlearned: list[dict[str, Any]],
    ) -> None:
        self._findings = findings
        self.n_documents, self.n_labels = n_documents, n_labels
        self.duplicates, self.same = duplicates, same
        self.two_meanings, self.unlearned = two_meanings, unlearned

    def __len__(self) -> int:
        return len(self._findings)

    def __getitem__(self, position: Any) -> Any:
        return self._findings[position]

    def to_dict(self) -> dict[str, Any]:
        """As data for JSON."""
        return {
            "documents": self.n_documents,
            "labels": self.n_labels,
            "pairs": [finding.to_dict() for finding in self._findings],
            "duplicates": self.duplicates,
            "same-labels": self.same,
            "two-meanings": self.two_meanings,
            "not-learned": self.unlearned,
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the pairs to a ``.jsonl`` or ``.csv`` file, or everything to an ``.html`` page."""
        writers = {".jsonl": self._jsonl, ".csv": self._csv, ".html": self._html}
        ending = Path(path).suffix.lower()
        if ending not in writers:
            raise InputError(
                f"{os.fspath(path)}: a report's name must end in {', '.join(writers)}; "
                f"got {ending!r}."
            )
        with atomic_write(path) as file:
            file.write(writers[ending]().encode())

    def _jsonl(self) -> str:
        return "".join(
            json.dumps(finding.to_dict(), ensure_ascii=False) + "\n" for finding in self._findings
        )

    def _csv(self) -> str:
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(
            [
                *("id", "label", "name", "given", "probability", "error"),
                *("reasons", "having", "lacking", "text"),
            ]
        )
        for finding in self._findings:
            writer.writerow(
                [
                    finding.id,
                    finding.label,
                    finding.name,
                    str(finding.given).lower(),
                    f"{finding.probability:.6g}",
                    f"{finding.error:.6g}",
                    " ".join(
                        f"{name}:{share:+.2f}"
                        for name, share in sorted(finding.reasons.items(), key=lambda r: -r[1])
                    ),
                    " ".join(witness.id for witness in finding.having),
                    " ".join(witness.id for witness in finding.lacking),
                    finding.text,
                ]
            )
        return file.getvalue()

    def _html(self) -> str:
        from manylabel.audit.page import page

        return page(self)

    def __rich__(self) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD)
        for title in ("Error", "Looks", "Label", "Document", "Because", "Text"):
            # Only the text gives way on a narrow terminal: it is cut, not wrapped.
            table.add_column(title, no_wrap=title != "Text", justify="left")
        for finding in self._findings:
            looks = ("wrong", "red") if finding.given else ("missing", "yellow")
            table.add_row(
                f"{finding.error:.2f}",
                Text(*looks),
                Text(finding.name),
                Text(finding.id),
                Text(finding.summary),
                Text(finding.text[:60], "dim", no_wrap=True, overflow="ellipsis"),
            )
        return table

    def __repr__(self) -> str:
        return as_text(self) if self._findings else "nothing looks wrong"


def report_of(
    audit: Audit,
    top: int,
    ids: Sequence[str],
    texts: Sequence[str] | None,
    names: Sequence[str],
    shown: Mapping[str, str] | None = None,
) -> AuditReport:
    """The report on an audit, with the names of documents and labels."""
    from scipy.special import expit

    shown = shown or {}

    def text(row: int) -> str:
        return "" if texts is None else " ".join(texts[row][: 2 * _SHOWN].split())[:_SHOWN]

    def label(column: int) -> dict[str, str]:
        return {"label": names[column], "name": shown.get(names[column], names[column])}

    def witness(row: int, similarity: float) -> Witness:
        return Witness(ids[row], similarity, text(row))

    def only(one: int, other: int, key: str) -> list[str]:
        return [label(column)[key] for column in _only(audit, one, other)]

    entries = audit.suspects(top)
    findings = []
    for entry, given in zip(entries.tolist(), audit.is_given(entries).tolist(), strict=True):
        row, column = audit.position(entry)
        having, lacking = audit.witnesses(row, column)
        shares = audit.out.shares(entry)
        findings.append(
            Finding(
                id=ids[row],
                text=text(row),
                given=given,
                probability=float(expit(sum(shares.values()))),
                error=float(audit.errors[entry]),
                reasons=shares,
                having=[witness(*pair) for pair in having],
                lacking=[witness(*pair) for pair in lacking],
                **label(column),
            )
        )
    return AuditReport(
        findings,
        *audit.Y.shape,
        duplicates=[
            {
                "ids": [ids[pair.first], ids[pair.second]],
                "similarity": pair.similarity,
                "only-first": only(pair.first, pair.second, "label"),
                "only-second": only(pair.second, pair.first, "label"),
                "names-first": only(pair.first, pair.second, "name"),
                "names-second": only(pair.second, pair.first, "name"),
                "text": text(pair.first),
                "text-second": text(pair.second),
            }
            for pair in audit.duplicates
        ],
        same=[
            {
                "labels": [label(pair.first), label(pair.second)],
                "likeness": pair.likeness,
                "together": pair.together,
            }
            for pair in audit.same
        ],
        two_meanings=[
            label(each.label)
            | {
                "apart": each.apart,
                "share": each.share,
                "examples": [
                    [{"id": ids[row], "text": text(row)} for row in group]
                    for group in each.examples
                ],
            }
            for each in audit.two_meanings
        ],
        unlearned=[
            label(each.label) | {"documents": each.n_documents, "probability": each.probability}
            for each in audit.unlearned
        ],
    )


def _only(audit: Audit, one: int, other: int) -> list[int]:
    """Labels that one document has and another does not."""
    Y = audit.Y
    mine, theirs = (set(Y[[row]].indices.tolist()) for row in (one, other))
    return sorted(mine - theirs)


def title_of(scorer: str) -> str:
    """The title of a scorer, as shown to people."""
    from manylabel.ensemble.scorers import SCORERS, make_scorers

    if scorer in SCORERS:
        return make_scorers([scorer])[0].title
    return KINDS[scorer].title if scorer in KINDS else scorer


def read_decisions(path: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Read people's decisions: JSON Lines with ``id``, ``label`` and ``decision``.

    A decision is ``"add"``, ``"remove"`` or ``"keep"``. Those about a new document have its
    ``text``.
    """
    decisions = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                decision = {key: record[key] for key in ("id", "label", "decision")}
                # A line of a report has only the beginning of a text.
                if "given" not in record and record.get("text"):
                    decision["text"] = record["text"]
            except (ValueError, KeyError, TypeError):
                raise CorpusError(
                    'expected {"id": ..., "label": ..., "decision": "add"|"remove"|"keep"}.',
                    os.fspath(path),
                    number,
                ) from None
            if decision["decision"] not in _DECISIONS:
                raise CorpusError(
                    f"a decision must be one of {', '.join(_DECISIONS)}; "
                    f"got {decision['decision']!r}.",
                    os.fspath(path),
                    number,
                )
            decisions.append({key: str(value) for key, value in decision.items()})
    return decisions


def decided(
    decisions: Iterable[Mapping[str, str]], labels_of: Any
) -> tuple[dict[str, list[str]], list[dict[str, str]]]:
    """The new labels of the documents that change, and the decisions that undo this.

    Parameters
    ----------
    decisions : iterable of mapping
        With ``id``, ``label`` and ``decision``, in the order in which they were made.
    labels_of : callable
        From an id to the labels of the document.
    """
    labels: dict[str, list[str]] = {}
    undo: list[dict[str, str]] = []
    changed: set[str] = set()
    for each in decisions:
        name, label, decision = each["id"], each["label"], each["decision"]
        if decision not in _DECISIONS:
            raise InputError(
                f"a decision must be one of {', '.join(_DECISIONS)}; got {decision!r}."
            )
        if name not in labels:
            labels[name] = list(labels_of(name))
        if decision == "add" and label not in labels[name]:
            labels[name].append(label)
            undo.append({"id": name, "label": label, "decision": "remove"})
        elif decision == "remove" and label in labels[name]:
            labels[name].remove(label)
            undo.append({"id": name, "label": label, "decision": "add"})
        else:
            continue
        changed.add(name)
    return {name: labels[name] for name in labels if name in changed}, undo[::-1]

"""An audit as one self-contained HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.rendering import fill_page
from manylabel.wording import counted, percent

if TYPE_CHECKING:
    from manylabel.audit.report import AuditReport

__all__ = ["page"]


def page(report: AuditReport) -> str:
    """The whole report."""
    from manylabel.audit.report import title_of

    return fill_page(
        "manylabel.audit",
        report=report,
        findings=list(report),
        counted=counted,
        percent=percent,
        title_of=title_of,
    )

"""What looks wrong with the labels of a collection.

Every (document, label) pair that is given, or that the other documents suggest, gets a probability
by models that have not seen the document. From these follow labels that look wrong or missing,
labels that nothing tells apart, and labels that cannot be learned.
"""

from manylabel.audit.audit import Audit, audit
from manylabel.audit.next import uncertainty, what_next
from manylabel.audit.pairs import document_errors, pair_errors

__all__ = [
    "Audit",
    "audit",
    "document_errors",
    "pair_errors",
    "uncertainty",
    "what_next",
]

"""Find suspicious labels in a collection.

Every (document, label) pair that is given, or that the other documents suggest, gets a probability
from models that have not seen the document. These show labels that look wrong or missing, labels
that cannot be told apart, and labels that cannot be learned.
"""

from manylabel.audit.audit import Audit, audit
from manylabel.audit.next import SHORT, choose_by_words, choose_next, most_uncertain, uncertainty
from manylabel.audit.pairs import document_errors, pair_errors, unlisted_errors

__all__ = [
    "SHORT",
    "Audit",
    "audit",
    "choose_by_words",
    "choose_next",
    "document_errors",
    "most_uncertain",
    "pair_errors",
    "uncertainty",
    "unlisted_errors",
]

"""The middle of the package: documents, candidate labels, and what scores them.

A classifier is a choice of sources and scorers. A *source* proposes candidate labels for documents;
a *scorer* gives every candidate a number and can say why. Whatever they read of a document is a
view of its :class:`Documents`.
"""

from manylabel.scoring.candidates import Candidates, CandidateSource
from manylabel.scoring.documents import Documents
from manylabel.scoring.scorer import Scorer
from manylabel.scoring.training import Training

__all__ = ["CandidateSource", "Candidates", "Documents", "Scorer", "Training"]

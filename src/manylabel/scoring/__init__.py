"""The core of the package: documents, candidate labels, and scorers.

A classifier is a choice of sources and scorers. A *source* proposes candidate labels for documents;
a *scorer* gives every candidate a number and can explain it. Both read documents through the views
of :class:`Documents`.
"""

from manylabel.scoring.candidates import Candidates, CandidateSource
from manylabel.scoring.documents import Documents
from manylabel.scoring.scorer import Scorer
from manylabel.scoring.training import Training
from manylabel.scoring.word_sums import WordSums

__all__ = ["CandidateSource", "Candidates", "Documents", "Scorer", "Training", "WordSums"]

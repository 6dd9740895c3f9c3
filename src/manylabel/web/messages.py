"""The bodies of requests and answers; the documentation shows their descriptions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

__all__ = [
    "Answer",
    "ChangeAnswer",
    "DescriptionAnswer",
    "DocumentId",
    "ExplainAnswer",
    "ExplainRequest",
    "ForgetRequest",
    "LabelName",
    "LabelsAnswer",
    "LearnRequest",
    "ModelsAnswer",
    "Problem",
    "StateAnswer",
    "SuggestAnswer",
    "SuggestBatchAnswer",
    "SuggestRequest",
    "Text",
]


def _of_characters(text: str) -> str:
    """Refuse a string that cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("A string contains an unpaired surrogate.") from None
    return text


Text = Annotated[str, AfterValidator(_of_characters)]
LabelName = Annotated[Text, StringConstraints(min_length=1, max_length=1000, pattern=r"\S")]
DocumentId = Annotated[Text, StringConstraints(min_length=1, max_length=1000)]
ModelName = Annotated[
    str | None, Field(description="A model that /v1/models lists; by default the first.")
]


class Request(BaseModel):
    """A request; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Answer(BaseModel):
    """An answer, or a part of one, for the description of the API.

    Pydantic builds it for that description, not when the server starts.
    """

    model_config = ConfigDict(defer_build=True)


class SuggestRequest(Request):
    """One text, or several."""

    model: ModelName = None
    text: Text | None = None
    texts: list[Text] | None = None
    top: int = Field(10, ge=1, le=1000, description="Maximum labels per text.")
    threshold: (
        Annotated[float, Field(allow_inf_nan=False)]
        | Literal["auto"]
        | Annotated[str, Field(pattern=r"^(precision|recall|fdr):0?\.\d{1,6}(:grouped)?$")]
        | None
    ) = Field(
        None,
        description="The minimum score; `auto` for the model's own threshold; or a promise such as "
        "`precision:0.9`: 9 in 10 labels are right.",
    )
    include: list[LabelName] | None = Field(
        None,
        description="Suggest only these labels, or those of these collections of the vocabulary.",
    )
    exclude: list[LabelName] | None = Field(
        None, description="Do not suggest these labels, or the labels of these collections."
    )
    explain: bool = Field(
        False, description="Add the reasons for each label, as /v1/explain returns them."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> SuggestRequest:
        if (self.text is None) == (self.texts is None):
            raise ValueError("Give either `text` or `texts`.")
        return self


class ExplainRequest(Request):
    """A text, and the labels to explain; by default the best."""

    model: ModelName = None
    text: Text
    labels: list[LabelName] | None = Field(None, max_length=50)
    top: int = Field(5, ge=1, le=50)


class NewDocument(Request):
    """A text with the labels that a person gave it."""

    text: Text
    labels: list[LabelName]
    id: DocumentId | None = Field(None, description="Replaces the document with the same id.")
    incomplete: bool = Field(
        False, description="The labels that the document lacks are unknown, not wrong."
    )


class LearnRequest(Request):
    """Documents to learn."""

    model: ModelName = None
    documents: list[NewDocument] = Field(min_length=1)


class ForgetRequest(Request):
    """Documents to forget."""

    model: ModelName = None
    ids: list[DocumentId] = Field(min_length=1)


class Limits(Answer):
    """Limits on requests."""

    body: int = Field(description="Bytes.")
    texts: int
    seconds: float


class ModelInfo(Answer):
    """A served model."""

    name: str
    kind: str
    documents: int
    labels: int
    scores: Literal["probability", "score"] = Field(
        description="`probability`: the score is the probability that a label is right. `score`: "
        "it only ranks labels."
    )


class ModelsAnswer(Answer):
    """The served models, and what the server allows."""

    version: str
    models: list[ModelInfo]
    learning: Literal["off", "open", "token"] = Field(
        description="Whether the server learns documents, and whether that needs a token."
    )
    reading: Literal["open", "token"] = Field(description="Whether reading needs a token.")
    limits: Limits
    examples: list[str]


class LabelInfo(Answer):
    """A label and its name."""

    label: str
    name: str


class LabelsAnswer(Answer):
    """Labels that match a query, best first."""

    model: str
    labels: list[LabelInfo]
    total: int = Field(description="Number of all matching labels.")


class LabelScore(LabelInfo):
    """A suggested label; greater scores are surer."""

    score: float


class Part(Answer):
    """A part of a score."""

    kind: str
    share: float
    title: str = Field(description="A title for people.")
    sentence: str = Field("", description="An explanation for people; may be empty.")


class Word(Answer):
    """A word, its contribution, and where it occurs in the text."""

    word: str
    share: float
    spans: list[tuple[int, int]]


class Neighbour(Answer):
    """A similar known document with the label."""

    id: str
    text: str
    labels: list[LabelInfo]
    similarity: float
    share: float
    words: list[Word]


class Highlight(Answer):
    """A span of the text, in characters, and its total contribution."""

    start: int
    end: int
    weight: float


class LabelReasons(LabelScore):
    """Why a label has its score: the shares of the parts sum to it."""

    probability: float | None = Field(
        None, description="The score of /v1/suggest, if `score` is its log-odds."
    )
    parts: list[Part]
    neighbours: list[Neighbour]
    words: list[Word]
    highlights: list[Highlight]


class SuggestedLabel(LabelScore):
    """A suggested label, with its reasons if requested."""

    reasons: LabelReasons | None = None


class SuggestAnswer(Answer):
    """The suggested labels of a text, best first."""

    model: str
    labels: list[SuggestedLabel]


class SuggestedDocument(Answer):
    """The suggested labels of one text of several."""

    labels: list[SuggestedLabel]


class SuggestBatchAnswer(Answer):
    """The suggested labels of several texts, in the order of the texts."""

    model: str
    documents: list[SuggestedDocument]


class ExplainAnswer(Answer):
    """The reasons for each label."""

    model: str
    labels: list[LabelReasons]


class DefiningWord(Answer):
    """A word that distinguishes a label's documents from others."""

    word: str
    weight: float


class LabelCount(LabelInfo):
    """A label and its number of documents."""

    documents: int


class KnownDocument(Answer):
    """A known document; its text may be cut."""

    id: str
    text: str
    labels: list[LabelInfo]


class DescriptionAnswer(Answer):
    """A description of a label by its documents."""

    model: str
    label: str
    name: str
    description: str
    documents: int
    words: list[DefiningWord]
    together: list[LabelCount]
    examples: list[KnownDocument]


class ChangeAnswer(Answer):
    """What was learned or forgotten; it takes effect at once."""

    model: str
    learned: list[str]
    replaced: list[str]
    forgotten: list[str]
    new_labels: list[str]
    not_updated: list[str] = Field(
        description="Parts of the model that change only at the next training."
    )
    documents: int = Field(description="Number of documents that the model knows now.")


class StateAnswer(Answer):
    """The state of the server."""

    status: str


class Problem(Answer):
    """An error."""

    title: str
    status: int
    detail: str = Field(description="One sentence.")

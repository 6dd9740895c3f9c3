"""The bodies of requests and answers, as the documentation shows them."""

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
    """A string that can be written to a file."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("A string holds an unpaired surrogate.") from None
    return text


Text = Annotated[str, AfterValidator(_of_characters)]
LabelName = Annotated[Text, StringConstraints(min_length=1, max_length=1000, pattern=r"\S")]
DocumentId = Annotated[Text, StringConstraints(min_length=1, max_length=1000)]
ModelName = Annotated[
    str | None, Field(description="One of those that /v1/models lists; by default the first.")
]


class Request(BaseModel):
    """A request; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


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
        description="The least score; `auto` to leave it to the model; or a promise, such as "
        "`precision:0.9`: only labels that are right 9 times in 10.",
    )
    include: list[LabelName] | None = Field(
        None, description="Only these labels; a collection of the vocabulary stands for its labels."
    )
    exclude: list[LabelName] | None = Field(
        None, description="None of these labels, or of the labels of these collections."
    )
    explain: bool = Field(
        False, description="Add the reasons of each label, as /v1/explain gives them."
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
    id: DocumentId | None = Field(None, description="A document of the same id is replaced.")
    incomplete: bool = Field(
        False, description="Leave the rest open: labels that it lacks are unknown, not wrong."
    )


class LearnRequest(Request):
    """Documents to learn."""

    model: ModelName = None
    documents: list[NewDocument] = Field(min_length=1)


class ForgetRequest(Request):
    """Documents to forget."""

    model: ModelName = None
    ids: list[DocumentId] = Field(min_length=1)


class Limits(BaseModel):
    """What a request may bring."""

    body: int = Field(description="Bytes.")
    texts: int
    seconds: float


class ModelInfo(BaseModel):
    """A model that is served."""

    name: str
    kind: str
    documents: int
    labels: int
    scores: Literal["probability", "score"] = Field(
        description="What scores are: from 0 to 1 the probability that a label is right, or a "
        "figure that only tells which label is the surer one."
    )


class ModelsAnswer(BaseModel):
    """What is served, and what is allowed."""

    version: str
    models: list[ModelInfo]
    learning: Literal["off", "open", "token"] = Field(
        description="Whether documents can be learned, and whether that needs a token."
    )
    reading: Literal["open", "token"] = Field(description="Whether questions need a token.")
    limits: Limits
    examples: list[str]


class LabelInfo(BaseModel):
    """A label and what people call it."""

    label: str
    name: str


class LabelsAnswer(BaseModel):
    """Labels that match a query, the best first."""

    model: str
    labels: list[LabelInfo]
    total: int = Field(description="How many match in all.")


class LabelScore(LabelInfo):
    """A suggested label; greater scores are surer."""

    score: float


class Part(BaseModel):
    """A part of a score."""

    kind: str
    share: float
    title: str = Field(description="What to call it.")
    sentence: str = Field("", description="What it means, where that is known.")


class Word(BaseModel):
    """A word, what it adds, and where it stands in the text."""

    word: str
    share: float
    spans: list[tuple[int, int]]


class Neighbour(BaseModel):
    """A known document that is similar and has the label."""

    id: str
    text: str
    labels: list[LabelInfo]
    similarity: float
    share: float
    words: list[Word]


class Highlight(BaseModel):
    """A place in the text, counted in characters, and what it adds in all."""

    start: int
    end: int
    weight: float


class LabelReasons(LabelScore):
    """Why a label has its score: the shares of the parts add up to it."""

    probability: float | None = Field(
        None, description="What suggest gives, where the score is the logarithm of its odds."
    )
    parts: list[Part]
    neighbours: list[Neighbour]
    words: list[Word]
    highlights: list[Highlight]


class SuggestedLabel(LabelScore):
    """A suggested label, with its reasons if they were asked for."""

    reasons: LabelReasons | None = None


class SuggestAnswer(BaseModel):
    """The suggested labels of a text, the best first."""

    model: str
    labels: list[SuggestedLabel]


class SuggestedDocument(BaseModel):
    """The suggested labels of one text of several."""

    labels: list[SuggestedLabel]


class SuggestBatchAnswer(BaseModel):
    """The suggested labels of several texts, in their order."""

    model: str
    documents: list[SuggestedDocument]


class ExplainAnswer(BaseModel):
    """Reasons, label by label."""

    model: str
    labels: list[LabelReasons]


class DefiningWord(BaseModel):
    """A word that tells a label's documents from others."""

    word: str
    weight: float


class LabelCount(LabelInfo):
    """A label in how many documents."""

    documents: int


class KnownDocument(BaseModel):
    """A document that a model knows, or the beginning of one."""

    id: str
    text: str
    labels: list[LabelInfo]


class DescriptionAnswer(BaseModel):
    """What a label stands for, as its documents show it."""

    model: str
    label: str
    name: str
    description: str
    documents: int
    words: list[DefiningWord]
    together: list[LabelCount]
    examples: list[KnownDocument]


class ChangeAnswer(BaseModel):
    """What was learned or forgotten; every later answer takes it into account."""

    model: str
    learned: list[str]
    replaced: list[str]
    forgotten: list[str]
    new_labels: list[str]
    not_updated: list[str] = Field(
        description="Parts of the model that know it after the next training."
    )
    documents: int = Field(description="How many the model knows now.")


class StateAnswer(BaseModel):
    """The state of the server."""

    status: str


class Problem(BaseModel):
    """An error."""

    title: str
    status: int
    detail: str = Field(description="One sentence.")

"""The routes of a machine-learning backend for Label Studio, which shows suggestions to labellers.

Label Studio sends the tasks that people open, with the project's labelling interface. The answer
fills in its ``Choices`` or ``Taxonomy``. Label Studio sends what people then choose to
``/webhook``, which learns it if learning is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# `_parsed` refuses document types, so the interface cannot define entities.
from xml.etree import ElementTree  # nosec B405

from fastapi import APIRouter, Body, Depends
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from manylabel import __version__
from manylabel.tagger import Suggestions
from manylabel.web.audit import Writer
from manylabel.web.errors import ApiError
from manylabel.web.examples import Examples
from manylabel.web.messages import Answer
from manylabel.web.routes import READ, WRITE, require_json
from manylabel.web.service import Served, Service

__all__ = ["label_studio_routes"]

_LEARNED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED")
_MAX_TASKS = 100
_MAX_DEPTH = 50


class Task(BaseModel):
    """What a labeller sees; other fields are ignored."""

    id: int | str | None = None
    data: dict[str, Any] = Field(default_factory=dict)


class PredictRequest(BaseModel):
    """Tasks, and the labelling interface of their project."""

    tasks: list[Task]
    label_config: str


class SetupRequest(BaseModel):
    """A project that is about to use the model."""

    project: str | None = None
    label_config: str | None = Field(None, alias="schema")


class Region(Answer):
    """The suggested choices in one part of the interface."""

    from_name: str
    to_name: str
    type: str
    value: dict[str, Any]


class Prediction(Answer):
    """The suggestions for a task; the score is the mean of its labels' scores."""

    result: list[Region]
    score: float
    model_version: str


class PredictAnswer(Answer):
    """One prediction per task, in the order of the tasks."""

    results: list[Prediction]
    model_version: str


class SetupAnswer(Answer):
    """The version of the model."""

    model_version: str


class HealthAnswer(Answer):
    """The state of the server."""

    status: str
    model_class: str


class Annotation(BaseModel):
    """What a person chose."""

    result: list[dict[str, Any]] = Field(default_factory=list)
    was_cancelled: bool = False


class EventProject(BaseModel):
    """The project of an event."""

    id: int | str | None = None
    label_config: str | None = None


class Event(BaseModel):
    """An event in a project."""

    action: str
    project: EventProject = Field(default_factory=EventProject)
    task: Task | None = None
    annotation: Annotation | None = None


class EventAnswer(Answer):
    """The ids of the documents that were learned."""

    learned: list[str]


@dataclass
class Interface:
    """The part of a labelling interface where the labels of a text are chosen."""

    kind: str  # "choices" or "taxonomy"
    name: str
    to_name: str
    field: str  # the field of a task with the text
    is_single: bool
    #: What people see -> what is stored; empty if any label may be chosen.
    paths: dict[str, list[str]]

    def region(self, paths: list[list[str]]) -> dict[str, Any]:
        """Suggested choices in Label Studio's format."""
        is_flat = self.kind == "choices"
        value = {self.kind: [path[-1] for path in paths] if is_flat else paths}
        return {
            "from_name": self.name,
            "to_name": self.to_name,
            "type": self.kind,
            "value": value,
        }

    def chosen(self, result: list[dict[str, Any]]) -> list[tuple[str, str]]:
        """The choices that a person made: as stored, and as people see them."""
        seen = {path[-1]: shown for shown, path in self.paths.items()}
        choices = []
        for region in result:
            value = region.get("value")
            if region.get("from_name") != self.name or not isinstance(value, dict):
                continue
            for one in value.get(self.kind) or []:
                last = one[-1] if isinstance(one, list) and one else one
                if isinstance(last, str) and last.strip():
                    choices.append((last, seen.get(last, last)))
        return list(dict.fromkeys(choices))


def label_studio_routes(service: Service, examples: Examples) -> APIRouter:
    """The routes: for the first model, and under /label-studio/{model} for every model."""
    router = APIRouter(tags=["Label Studio backend"])
    for prefix in ("", "/label-studio/{model}"):
        _add_routes(router, prefix, service, examples)
    return router


def _add_routes(router: APIRouter, prefix: str, service: Service, examples: Examples) -> None:
    json_only = [Depends(require_json)]

    def served(model: str | None = None) -> Served:
        return service.model(model)

    # Without the prefix, the path has no parameter ``model``.
    which = Depends(served) if prefix else Depends(lambda: service.model(None))

    @router.get(f"{prefix}/health", response_model=HealthAnswer, responses=READ)
    async def health(model: Served = which) -> JSONResponse:
        """Report that the server is running."""
        return JSONResponse({"status": "UP", "model_class": "manylabel"})

    @router.post(
        f"{prefix}/setup", response_model=SetupAnswer, responses=READ, dependencies=json_only
    )
    async def setup(
        body: SetupRequest = Body(openapi_examples=examples.studio_setup), model: Served = which
    ) -> JSONResponse:
        """Check that a labelling interface fits the model."""
        config = body.label_config
        if config is not None:
            await service.workers.read(lambda: _understood(model, config))
        return JSONResponse({"model_version": _version(model)})

    @router.post(
        f"{prefix}/predict", response_model=PredictAnswer, responses=READ, dependencies=json_only
    )
    async def predict(
        body: PredictRequest = Body(openapi_examples=examples.studio_predict),
        model: Served = which,
    ) -> JSONResponse:
        """Suggest choices for tasks."""
        service.check_number(len(body.tasks))
        interface, known = await service.workers.read(lambda: _understood(model, body.label_config))
        texts = [_text(interface, task) for task in body.tasks]
        full = [text for text in texts if text.strip()]
        suggestions: Iterator[Suggestions] = iter(
            await service.suggest(
                model,
                full,
                top=1 if interface.is_single else _MAX_TASKS,
                threshold="auto",
                include=list(known) if known else None,
            )
        )
        results = [
            _prediction(model, interface, known, next(suggestions) if text.strip() else None)
            for text in texts
        ]
        return JSONResponse({"results": results, "model_version": _version(model)})

    @router.post(
        f"{prefix}/webhook",
        response_model=EventAnswer,
        responses=WRITE,
        dependencies=json_only,
        status_code=201,
    )
    async def webhook(
        body: Event = Body(openapi_examples=examples.studio_event),
        model: Served = which,
        by: Writer = Depends(service.writer),
    ) -> JSONResponse:
        """Learn what a person chose; a later choice for the same task replaces it."""
        annotation, task, config = body.annotation, body.task, body.project.label_config
        if body.action not in _LEARNED or annotation is None or task is None or config is None:
            return JSONResponse({"learned": []}, 201)
        interface = await service.workers.read(lambda: _interface(config))
        names = await service.workers.read(model.by_name)
        chosen = interface.chosen(annotation.result)
        labels = list(dict.fromkeys(_label(names, *one) for one in chosen))
        text = _text(interface, task)
        if annotation.was_cancelled or not labels or not text.strip():
            return JSONResponse({"learned": []}, 201)
        name = f"label-studio-{body.project.id}-{task.id}"
        change = await service.learn(model, [text], [labels], [name], by)
        return JSONResponse({"learned": list(change.learned)}, 201)


def _version(served: Served) -> str:
    return f"{served.name}-{__version__}"


def _parsed(config: str) -> ElementTree.Element:
    if "<!" in config.replace("<!--", ""):
        raise ApiError(422, "The labelling interface must not contain a document type declaration.")
    try:
        return ElementTree.fromstring(config)  # noqa: S314  # nosec B314
    except ElementTree.ParseError as error:
        raise ApiError(422, f"The labelling interface is not valid XML: {error}.") from None


def _interface(config: str) -> Interface:
    """Find the first part of an interface where the labels of a text are chosen."""
    root = _parsed(config)
    texts = {
        one.get("name"): one
        for one in root.iter()
        if one.tag in ("Text", "HyperText") and (one.get("value") or "").startswith("$")
    }
    for one in root.iter():
        for target in (one.get("toName") or "").split(","):
            if one.tag not in ("Choices", "Taxonomy") or target not in texts:
                continue
            text = texts[target]
            if (text.get("valueType") or text.get("valuetype")) == "url":
                raise ApiError(422, "The tasks must contain their text, not its URL.")
            return Interface(
                kind=one.tag.lower(),
                name=one.get("name") or "",
                to_name=target,
                field=(text.get("value") or "")[1:],
                is_single=one.tag == "Choices"
                and (one.get("choice") or "single").startswith("single"),
                paths=dict(_paths(one, [])),
            )
    raise ApiError(
        422,
        "The labelling interface needs Choices or a Taxonomy for a Text whose value is a field of "
        "the task, such as $text.",
    )


def _paths(parent: ElementTree.Element, above: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each choice as people see it, and the path to it."""
    if len(above) > _MAX_DEPTH:
        raise ApiError(422, f"The taxonomy has more than {_MAX_DEPTH} levels.")
    for choice in parent:
        shown = choice.get("value")
        if choice.tag != "Choice" or not shown:
            continue
        path = [*above, choice.get("alias") or shown]
        yield shown, path
        yield from _paths(choice, path)


def _understood(served: Served, config: str) -> tuple[Interface, dict[str, list[str]]]:
    """Parse an interface; returns it with the path to the choice of each label."""
    interface = _interface(config)
    return interface, _known(served, interface)


def _known(served: Served, interface: Interface) -> dict[str, list[str]]:
    """The path to the choice of each label; empty if the interface accepts any label."""
    if not interface.paths:
        return {}
    names = served.by_name()
    known: dict[str, list[str]] = {}
    for shown, path in interface.paths.items():
        label = names.get(path[-1]) or names.get(shown)
        if label is not None:
            known.setdefault(label, path)
    if not known:
        raise ApiError(
            422,
            f"No choice in the labelling interface is a label of {served.name}; use the model's "
            "labels or their names.",
        )
    return known


def _label(names: dict[str, str], stored: str, shown: str) -> str:
    """The label of a choice, found by either of its names; an unknown choice is a new label."""
    return names.get(stored) or names.get(shown) or stored


def _text(interface: Interface, task: Task) -> str:
    text = task.data.get(interface.field, "")
    if not isinstance(text, str):
        raise ApiError(422, f"Invalid task {task.id}: `{interface.field}` must be a text.")
    return text


def _prediction(
    served: Served,
    interface: Interface,
    known: dict[str, list[str]],
    suggestions: Suggestions | None,
) -> dict[str, Any]:
    suggested = list(suggestions or ())
    paths = [known.get(label, [name]) for label, _, name in suggested]
    mean = sum(score for _, score, _ in suggested) / len(suggested) if suggested else 0.0
    return {
        "result": [interface.region(paths)] if paths else [],
        "score": mean,
        "model_version": _version(served),
    }

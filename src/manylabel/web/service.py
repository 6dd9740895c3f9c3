"""What the routes share: models by name, limits, metrics, threads."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import uuid4

from fastapi import Request

from manylabel.corpus import Document
from manylabel.exceptions import InputError, ParameterError
from manylabel.tagger import Change, Suggestions, Tagger
from manylabel.tagger.label_edits import LabelChange
from manylabel.web.access import REQUEST_ID
from manylabel.web.audit import AuditLog, Writer
from manylabel.web.errors import ApiError, as_sentence, token_needed
from manylabel.web.metrics import Metrics
from manylabel.web.settings import Settings
from manylabel.web.tokens import Tokens
from manylabel.web.vocabulary import Vocabulary
from manylabel.web.workers import Workers

__all__ = ["Served", "Service"]

_log = logging.getLogger("manylabel.web")
_Changed = TypeVar("_Changed", Change, LabelChange)


@dataclass
class Served:
    """A served model and its name."""

    name: str
    tagger: Tagger
    vocabulary: Vocabulary = field(init=False)
    _names: tuple[int, dict[str, str]] = field(default=(0, {}), init=False, repr=False)

    def __post_init__(self) -> None:
        self.vocabulary = Vocabulary(self.tagger)

    @property
    def scores(self) -> str:
        """What scores are: "probability", or a "score" that only ranks labels."""
        return "probability" if self.tagger.gives_probabilities else "score"

    def by_name(self) -> dict[str, str]:
        """Labels by name and by themselves; the first of several with the same name."""
        labels = self.tagger.labels
        if self._names[0] != len(labels):
            names = {label: label for label in labels}
            for label in labels:
                names.setdefault(self.tagger.label_info(label).name, label)
            self._names = len(labels), names
        return self._names[1]

    def label(self, label: str) -> dict[str, Any]:
        """A label and its name."""
        return {"label": label, "name": self.tagger.label_info(label).name}

    def document(self, id: str) -> Document:
        """A known document; answers with 404 if there is none with this id."""
        try:
            return self.tagger.document(id)
        except InputError as error:
            raise ApiError(404, as_sentence(str(error))) from None


class Service:
    """The state that all requests share.

    Parameters
    ----------
    taggers : mapping of str to Tagger
        Fitted taggers by name; the first is the default.
    settings : Settings
    """

    def __init__(self, taggers: Mapping[str, Tagger], settings: Settings) -> None:
        if not taggers:
            raise ParameterError("no model to serve; give at least one.")
        self.models = {name: Served(name, tagger) for name, tagger in taggers.items()}
        self.settings = settings
        self.metrics = Metrics()
        self.workers = Workers(settings.threads, settings.max_waiting, settings.timeout)
        self.tokens = Tokens(settings)
        self.audit = AuditLog(settings.audit_log)
        self.is_ready = False
        #: Called when all models have warmed up.
        self.when_ready: Callable[[], None] = lambda: None

    def model(self, name: str | None) -> Served:
        """Look up a model by name; None for the first."""
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            raise ApiError(404, f"Unknown model {name!r}; there are {', '.join(self.models)}.")
        return self.models[name]

    @property
    def learning(self) -> str:
        """Whether models may be changed: "off", "open" or "token"."""
        if not self.settings.allow_learn:
            return "off"
        return "open" if self.settings.token is None else "token"

    async def writer(self, request: Request) -> Writer:
        """Refuse requests that may not change a model; a dependency of the routes that do."""
        if not self.settings.allow_learn:
            raise ApiError(403, "Learning is off; start the server with --allow-learn.")
        holder = self.tokens.holder(request.headers.get("authorization"), "write")
        if holder is None and self.settings.token is not None:
            raise token_needed("This needs")
        client = request.client.host if request.client is not None else "-"
        return Writer(holder or "", client, request.scope.get(REQUEST_ID, "-"))

    @property
    def reading(self) -> str:
        """Whether reading needs a token: "open" or "token"."""
        return "open" if self.settings.read_token is None else "token"

    def check_number(self, texts: int) -> None:
        """Refuse requests with too many texts."""
        most = self.settings.max_texts
        if texts > most:
            raise ApiError(413, f"Too many texts: {texts:,}; the limit is {most:,} per request.")

    async def suggest(self, served: Served, texts: Any, **choice: Any) -> Any:
        """Call `Tagger.suggest`; requests about a single text may share a call."""
        tagger = served.tagger
        if not isinstance(texts, str) or choice.get("explain"):
            return await self.workers.read(lambda: tagger.suggest(texts, **choice))

        def call(several: list[str]) -> list[Suggestions]:
            if len(several) == 1:
                return [tagger.suggest(several[0], **choice)]
            return list(tagger.suggest(several, **choice))

        key = served.name, json.dumps(choice, sort_keys=True)
        return await self.workers.read_text(key, texts, call)

    async def learn(
        self,
        served: Served,
        texts: list[str],
        labels: list[list[str]],
        ids: list[str | None],
        by: Writer,
        incomplete: list[bool] | None = None,
    ) -> Change:
        """Learn documents; those without an id get one."""
        named = [name or uuid4().hex for name in ids] if any(ids) else None
        return await self.change(
            served,
            lambda: served.tagger.learn(texts, labels, named, incomplete=incomplete or False),
            by,
            "learn",
        )

    async def forget(self, served: Served, ids: list[str], by: Writer) -> Change:
        """Forget documents; an unknown id is an error."""

        def call() -> Change:
            for name in ids:
                served.document(name)
            return served.tagger.forget(ids)

        return await self.change(served, call, by, "forget")

    async def change(
        self, served: Served, call: Callable[[], Change], by: Writer, action: str
    ) -> Change:
        """Learn or forget documents, and count them."""
        change = await self.write(served, call, by, action)
        self.metrics.changed(served.name, len(change.learned), len(change.forgotten))
        return change

    async def write(
        self, served: Served, call: Callable[[], _Changed], by: Writer, action: str
    ) -> _Changed:
        """Change a model and write it to the audit log."""

        def audited() -> _Changed:
            with self.audit.open(by, action, served.name) as changes:
                change = call()
                changes.append(change)
            return change

        return await self.workers.write(audited)

    def warm_up(self) -> None:
        """Let every model load and compile what its first requests need."""
        for served in self.models.values():
            try:
                served.tagger.warm_up()
                served.vocabulary.search("", 1)
            except Exception:
                _log.exception("the model %r failed to warm up", served.name)
        self.when_ready()
        self.is_ready = True

    def close(self) -> None:
        """Finish running requests."""
        self.is_ready = False
        self.workers.close()

"""Example requests for the documentation, which work with the served models."""

from __future__ import annotations

from typing import Any

from manylabel.web.service import Service

__all__ = ["Examples"]

_TEXT = "A detective novel about a librarian who finds a letter in a returned book."


class Examples:
    """Example requests per route, as OpenAPI defines them.

    Parameters
    ----------
    service : Service
    """

    def __init__(self, service: Service) -> None:
        label = service.model(None).tagger.labels[0]
        texts = service.settings.examples[:2] or (_TEXT, "Letters from a lighthouse.")
        first = texts[0]
        self.label = label
        self.suggest = _named(
            ("One text", {"text": first, "top": 5}),
            ("Several texts", {"texts": list(texts), "threshold": "auto"}),
            ("Only some labels", {"text": first, "include": [label]}),
        )
        self.explain = _named(
            ("The best label", {"text": first, "top": 1}),
            ("One label", {"text": first, "labels": [label]}),
        )
        document = {"id": "example-1", "text": first, "labels": [label]}
        self.learn = _named(("One document", {"documents": [document]}))
        self.forget = _named(("The document learned above", {"ids": ["example-1"]}))
        self.document = "example-2"
        reviewed = {"id": self.document, "text": first, "accepted": [label]}
        self.review = _named(("One document", {"documents": [reviewed]}))
        self.audit = _named(("The ten most suspicious pairs", {"top": 10}))
        self.edit = _named(
            ("Hide a label", {"action": "hide", "labels": [label]}),
            ("Undo that", {"action": "undo"}),
        )
        self.next = _named(("Two texts", {"texts": list(texts)}))
        self.annif_suggest = {"text": first, "limit": 5, "threshold": 0.0}
        self.annif_batch = _named(
            ("One document", {"documents": [{"text": first, "document_id": "doc-1"}]})
        )
        self.annif_detect = _named(
            ("Two languages", {"text": first, "languages": ["en", "fi"]}),
        )
        self.annif_learn = _named(("One document", [{"text": first, "subjects": [{"uri": label}]}]))
        config = (
            '<View><Text name="text" value="$text"/>'
            '<Taxonomy name="labels" toName="text"></Taxonomy></View>'
        )
        task = {"id": 1, "data": {"text": first}}
        self.studio_setup = _named(("A project", {"project": "1", "schema": config}))
        self.studio_predict = _named(("One task", {"tasks": [task], "label_config": config}))
        value = {"taxonomy": [[label]]}
        chosen = {"from_name": "labels", "to_name": "text", "type": "taxonomy", "value": value}
        self.studio_event = _named(
            (
                "Labels were chosen",
                {
                    "action": "ANNOTATION_CREATED",
                    "project": {"id": 1, "label_config": config},
                    "task": task,
                    "annotation": {"result": [chosen]},
                },
            )
        )


def _named(*examples: tuple[str, Any]) -> dict[str, Any]:
    return {
        summary.lower().replace(" ", "-"): {"summary": summary, "value": value}
        for summary, value in examples
    }

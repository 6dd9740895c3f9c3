"""Ask a running ``manylabel serve`` instead of loading the model."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from manylabel.exceptions import ManylabelError

__all__ = ["ask"]

_SECONDS = 60.0


def ask(address: str, model: str, text: str, choice: dict[str, Any]) -> dict[str, Any]:
    """Suggest labels for a text by the server at an address, as a record of ``predict``.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8000``.
    model : str
        A model folder; the server must serve a model of the same name.
    text : str
    choice : dict
        Other fields of the request.
    """
    body = {"model": Path(model).resolve().name, "text": text}
    body |= {name: value for name, value in choice.items() if value is not None}
    labels = _posted(address, "/v1/suggest", body)["labels"]
    return {
        "id": "0",
        "labels": [
            {"label": one["label"], "score": one["score"]}
            | ({} if one["name"] == one["label"] else {"name": one["name"]})
            for one in labels
        ],
    }


def _posted(address: str, path: str, body: dict[str, Any]) -> Any:
    """The answer to a request; an error of the server is raised."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    url = urlsplit(address)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ManylabelError(
            f"invalid --via {address!r}; give the address of a server, such as "
            "http://127.0.0.1:8000."
        )
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    headers = {"Content-Type": "application/json"}
    token = os.environ.get("MANYLABEL_READ_TOKEN")
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection = kind(url.hostname, url.port, timeout=_SECONDS)
        connection.request("POST", url.path.rstrip("/") + path, json.dumps(body), headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise ManylabelError(
            f"no manylabel server answers at {address} ({error}); start one with "
            f"manylabel serve {body['model']}."
        ) from None
    if answer.status != 200:
        detail = content.get("detail") if isinstance(content, dict) else None
        raise ManylabelError(f"the server at {address} refuses: {detail or answer.reason}")
    return content

"""Audits of a served model."""

from __future__ import annotations

import threading

import pytest

from manylabel.tagger import Tagger
from manylabel.web import auditing


def test_an_audit_is_that_of_the_tagger(client, tagger):
    answer = client.post("/v1/audit", json={"top": 4})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["model"], found["documents"], found["labels"]) == ("animals", 5, 4)
    expected = [pair.to_dict() for pair in tagger.audit(top=4)]
    assert [(pair["id"], pair["label"], pair["given"]) for pair in found["pairs"]] == [
        (pair["id"], pair["label"], pair["given"]) for pair in expected
    ]
    assert found["pairs"][0]["error"] == pytest.approx(expected[0]["error"])


def test_a_report_is_kept_until_the_model_changes(client, monkeypatch):
    audits = []
    audit = Tagger.audit

    def counted(self, *arguments, **named):
        audits.append(self.n_documents)
        return audit(self, *arguments, **named)

    monkeypatch.setattr(Tagger, "audit", counted)
    for top in (1, 3):
        assert len(client.post("/v1/audit", json={"top": top}).json()["pairs"]) == top
    assert audits == [5]
    client.post("/v1/forget", json={"ids": ["m1"]})
    found = client.post("/v1/audit", json={}).json()
    assert audits == [5, 4]
    assert found["documents"] == 4
    assert "m1" not in {pair["id"] for pair in found["pairs"]}


def test_one_audit_runs_at_a_time(client, monkeypatch):
    begun, may_end = threading.Event(), threading.Event()
    audit = Tagger.audit

    def slow(self, *arguments, **named):
        begun.set()
        may_end.wait(60)
        return audit(self, *arguments, **named)

    monkeypatch.setattr(Tagger, "audit", slow)
    answers = []
    first = threading.Thread(target=lambda: answers.append(client.post("/v1/audit", json={})))
    first.start()
    assert begun.wait(60)
    second = client.post("/v1/audit", json={})
    may_end.set()
    first.join()
    assert answers[0].status_code == 200
    assert second.status_code == 503
    assert second.headers["retry-after"] == "5"
    assert second.json()["detail"] == "Another audit is running; try again in a moment."


def test_who_may_not_learn_may_not_audit(client_of):
    assert client_of().post("/v1/audit", json={}).status_code == 403
    guarded = client_of(allow_learn=True, token="k3y")
    assert guarded.post("/v1/audit", json={}).status_code == 401
    answer = guarded.post("/v1/audit", json={}, headers={"Authorization": "Bearer k3y"})
    assert answer.status_code == 200


def test_a_large_model_is_audited_on_the_command_line(client, monkeypatch):
    monkeypatch.setattr(auditing, "_DOCUMENTS", 4)
    answer = client.post("/v1/audit", json={})
    assert answer.status_code == 413
    assert answer.json()["detail"] == (
        "The model has 5 documents; the limit of an audit here is 4. "
        "Run `manylabel audit` on the server instead."
    )

"""Audits of the stored data over HTTP: in the background, one at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pertinent.errors import IndexFailure
from pertinent.surfaces.http import audit_queue
from pertinent.surfaces.http.audit_queue import AuditQueue
from pertinent.workspace.workspace import Workspace

from .conftest import Serve, Service, problem

if TYPE_CHECKING:
    import pytest

AUDITS = "/api/v1/audits"


def start(service: Service) -> str:
    response = service.client.post(AUDITS, json={})
    assert response.status_code == 200, response.text
    assert response.json()["faults"] is None
    return str(response.json()["id"])


def test_audit_returns_the_faults(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    assert service.client.get(f"{AUDITS}/{start(service)}").json()["faults"] == []
    monkeypatch.setattr(audit_queue, "audit_stored_data", lambda _: ["a fault"])
    assert service.client.get(f"{AUDITS}/{start(service)}").json()["faults"] == ["a fault"]


def test_one_audit_runs_and_one_waits_at_most(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AuditQueue, "_run", audit := HeldAudit())
    service.app.state.audit_queue._wait_seconds = 0.01
    running = start(service)
    assert audit.started.wait(60)
    waiting = [start(service) for _ in range(5)]
    assert len(set(waiting)) == 1
    assert running not in waiting
    assert service.client.get(f"{AUDITS}/{running}").json() == {"id": running, "faults": None}
    assert service.search().status_code == 200
    audit.held.set()
    service.app.state.audit_queue._wait_seconds = 60
    for name in (running, waiting[0]):
        assert service.client.get(f"{AUDITS}/{name}").json() == {"id": name, "faults": []}
    assert audit.runs == 2


class HeldAudit:
    """An audit that ends when it is let go."""

    def __init__(self) -> None:
        self.started, self.held = threading.Event(), threading.Event()
        self.runs = 0

    def __call__(self, *_: Any) -> list[str]:
        self.runs += 1
        self.started.set()
        assert self.held.wait(60)
        return []


def test_store_that_fails_during_an_audit_is_an_error(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Workspace) -> list[str]:
        raise IndexFailure("the index is on fire")

    monkeypatch.setattr(audit_queue, "audit_stored_data", fail)
    problem(service.client.get(f"{AUDITS}/{start(service)}"), 503, "service_unavailable")


def test_old_audits_are_forgotten(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_queue, "MAX_STORED", 2)
    names = []
    for _ in range(4):
        names.append(start(service))
        service.client.get(f"{AUDITS}/{names[-1]}")
    statuses = [service.client.get(f"{AUDITS}/{name}").status_code for name in names]
    assert statuses == [404, 404, 200, 200]


def test_audit_needs_an_api_key_and_json(serve: Serve) -> None:
    """A page of another site can send a form, but no JSON."""
    locked = serve(api_keys=["an-api-key"], public_keys=["a-public-key"])
    problem(locked.client.post(AUDITS, json={}), 401, "unauthorized")
    problem(locked.client.post(AUDITS, json={}, headers={"x-api-key": "a-public-key"}), 403, "forbidden")
    problem(
        locked.client.post(
            AUDITS, content="{}", headers={"x-api-key": "an-api-key", "content-type": "text/plain"}
        ),
        400,
        "validation_error",
    )

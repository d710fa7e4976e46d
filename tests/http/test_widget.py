"""`GET /widget.js`: what other sites load with a script tag."""

from __future__ import annotations

from .conftest import Serve


def test_widget_needs_no_key_and_has_no_rate_limit(serve: Serve) -> None:
    client = serve(api_keys=["a-long-key"], rate_limit=1).client
    responses = [client.get("/widget.js") for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 200]
    headers = responses[0].headers
    assert headers["content-type"].partition(";")[0] in ("text/javascript", "application/javascript")
    assert headers["cache-control"] == "no-cache"
    assert headers["cross-origin-resource-policy"] == "cross-origin"

"""Swagger UI at /docs, in a real browser and without a network."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import Visit


def test_api_docs_show_every_operation_with_its_examples(visit: Visit) -> None:
    reader = visit()
    reader.page.goto(f"{reader.home}/docs")
    expect(reader.page.locator(".opblock")).to_have_count(17)
    expect(reader.page.locator(".version-pragma, .version-stamp").last).to_contain_text("OAS 3.1")
    search = reader.page.locator("#operations-v1-search_api_v1_search_post")
    search.locator(".opblock-summary-control").click()
    expect(search.locator(".opblock-section-request-body")).to_contain_text("How do ROS 2 nodes communicate?")
    expect(search.locator(".response", has_text="Successful")).to_contain_text("intro-0a1b2c3d-4e5f60718293")
    expect(search.locator(".response", has_text="429")).to_contain_text("rate_limited")

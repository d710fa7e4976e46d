"""The rules of robots.txt that count for this crawler."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from pertinent.sources.site.http_client import PRODUCT
from pertinent.sources.site.robots import parse_robots

LINES = """
User-agent: *
User-agent: Pertinent
USERAGENT\t:\tpert
user agent PERTINENT*
user-agent: p*t
User-agent: pertinentbot
user-agent: other
User-agent: **
User-agent: # nobody
user-agent Googlebot
user-agent Googlebot: x
user-agent http://bot.example
User  agent: x
Disallow: /
Disallow: /a
Allow: /a/b
Crawl-delay: 3
Sitemap: https://book.example/a.xml
"""


@given(st.lists(st.sampled_from(LINES.splitlines()), max_size=12))
def test_names_of_other_crawlers_change_no_rule(lines: list[str]) -> None:
    text = "\r\n".join(lines)
    robots, rules = parse_robots(text), Protego.parse(text)
    for address in ("https://book.example/a", "https://book.example/a/b", "https://book.example/c"):
        assert robots.allows(address) == rules.can_fetch(address, PRODUCT)
    assert robots.delay == (rules.crawl_delay(PRODUCT) or 0.0)
    assert robots.sitemaps == list(rules.sitemaps)


@pytest.mark.parametrize(
    "agent", ["user-agent: bot{}", "user-agent bot{}", "useragent:per{}*", "user-agent:p{}#"]
)
def test_rules_for_many_crawlers_take_little_memory(agent: str) -> None:
    names = [agent.format("*" * n if "*" in agent else n) for n in range(1000)]
    text = "\n".join([*names, *(f"Disallow: /{n}" for n in range(1000))])
    tracemalloc.start()
    try:
        parse_robots(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * len(text)

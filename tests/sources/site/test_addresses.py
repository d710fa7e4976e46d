from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.site.addresses import _NORMAL, MAX_ADDRESS_LENGTH, normalize_address

BASE = "https://book.example/docs/guide/"


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("intro", "https://book.example/docs/guide/intro"),
        ("../intro/", "https://book.example/docs/intro/"),
        ("/intro#part", "https://book.example/intro"),
        ("#part", BASE),
        ("//book.example/x", "https://book.example/x"),
        ("https://BOOK.example:443/x", "https://book.example/x"),
        ("http://book.example:80/x", "http://book.example/x"),
        ("http://book.example:8080/x", "http://book.example:8080/x"),
        ("https://book.example/a/../b/./c", "https://book.example/b/c"),
        ("https://book.example/a/..", "https://book.example/"),
        ("/x?utm_source=a&page=2&gclid=b&fbclid=c", "https://book.example/x?page=2"),
        ("/x?utm_source=a", "https://book.example/x"),
        ("/x;jsessionid=1A2B/y;v=1;JSESSIONID=C?page=2", "https://book.example/x/y;v=1?page=2"),
        ("/caf\u00e9 au lait", "https://book.example/caf%C3%A9%20au%20lait"),
        ("/caf%c3%a9%7e", "https://book.example/caf%C3%A9~"),
        ("/a\n b", "https://book.example/a%20b"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_normalize_address_resolves_links(link: str, address: str) -> None:
    assert normalize_address(link, BASE) == address


@pytest.mark.parametrize("link", [
    "javascript:alert(1)", "mailto:me@book.example", "data:text/html,<h1>x</h1>", "tel:123",
    "ftp://book.example/x", "https://user:pass@book.example/x", "https://me@book.example/x",
    "https://book.example:notaport/", "https://book.example:99999/", "http://[::1/x",
    "/" + "x" * MAX_ADDRESS_LENGTH, "/" + "é" * (MAX_ADDRESS_LENGTH // 2),
    "https://\u2024\u2024.example/",
])  # fmt: skip
def test_normalize_address_refuses_unfetchable_links(link: str) -> None:
    assert normalize_address(link, BASE) is None


@given(st.text(max_size=60))
def test_normalize_address_is_idempotent(link: str) -> None:
    address = normalize_address(link, BASE)
    if address is not None:
        assert normalize_address(address) == address
        assert address.isascii()
        assert urlsplit(address).fragment == ""


@given(st.from_regex(_NORMAL, fullmatch=True))
def test_normal_pattern_matches_only_normalized_addresses(link: str) -> None:
    # With a fragment it is taken apart and put together again.
    assert normalize_address(link) == normalize_address(f"{link}#part")


@pytest.mark.parametrize(
    "link",
    [
        "https://book.example/docs/a.b_c-d/",
        "http://127.0.0.1:8000/docs/page-1",
        "http://book.example:60000/x",
    ],
)
def test_normalize_address_keeps_normalized_addresses(link: str) -> None:
    assert normalize_address(link) == link


@pytest.mark.parametrize(
    "link",
    [
        "http://book.example:65536/x",
        "http://book.example:99999/x",
        "https://book.example/" + "x" * MAX_ADDRESS_LENGTH,
    ],
)
def test_normalize_address_refuses_bad_ports_and_lengths(link: str) -> None:
    assert normalize_address(link) is None

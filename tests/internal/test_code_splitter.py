"""Long code is cut between its top-level constructs."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.code_splitter import _CodeLine, split_code

LINES = st.lists(st.text("ab }{)#\t", max_size=12), max_size=60)


def parts(code: str, most: int) -> list[str]:
    return [code[start:end] for start, end in split_code(code, most)]


def test_code_that_fits_is_one_part() -> None:
    assert parts("a = 1\n\nb = 2", 100) == ["a = 1\n\nb = 2"]


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    a()\n\n    b()\n\ndef g():\n    c()\n    d()",  # a blank line between constructs
        "function f() {\n  a()\n\n  b()\n}\nfunction g() {\n  c()\n}",  # no blank line at the top level
        "- a: 1\n  b: 2\n  c: 3\n  d: 4\n- a: 1\n  b: 2\n  c: 3",  # no closing line either
    ],
)
def test_cut_is_where_a_top_level_construct_ends(code: str) -> None:
    first, second = parts(code, len(code) - 1)
    assert second.splitlines()[0] in ("def g():", "function g() {", "- a: 1")
    assert first.splitlines()[-1] in ("    b()", "}", "  d: 4")


def test_cut_in_one_construct_is_at_a_blank_line() -> None:
    code = dedent("""\
        class Robot {
          walk() {
            step();
          }

          stop() {
            halt();
          }
        }""")
    assert parts(code, 60) == [code.partition("\n\n")[0], code.partition("\n\n")[2]]


def test_closing_lines_are_no_part_of_their_own() -> None:
    code = "\n".join(["{", *(f'  "key{n}": [{n}],' for n in range(40)), "}"])
    assert all(len(part) >= 100 for part in parts(code, 300))


@given(LINES, st.integers(1, 60))
def test_every_line_is_in_one_part_that_fits(lines: list[str], most: int) -> None:
    code = "\n".join(lines)
    result = parts(code, most)
    shown = [line.rstrip() for part in result for line in part.split("\n")]
    assert list(filter(None, shown)) == [line.rstrip() for line in lines if line.strip()]
    assert all(len(part) <= most or "\n" not in part for part in result)


def test_long_code_is_read_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading all lines below for each part would take hours for a listing of 10 MB."""
    reads = 0

    def count_read(line: _CodeLine) -> int:
        nonlocal reads
        reads += 1
        return len(line.text) - len(line.text.lstrip())

    monkeypatch.setattr(_CodeLine, "indent", property(count_read))
    assert len(split_code("call();\n" * 5000, 400)) > 50
    assert reads < 5 * 5000

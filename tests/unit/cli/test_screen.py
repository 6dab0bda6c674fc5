from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latence_retrieval.cli.progress import ProgressLine
from latence_retrieval.cli.terminal import Terminal, cells, clipped, padded, wrapped


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" in Terminal(_Screen()).bold("x")
    assert Terminal(io.StringIO()).bold("x") == "x"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_is_off_where_the_environment_says_so(monkeypatch, name, value):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert Terminal(_Screen()).bold("x") == "x"


def test_wide_letters_take_two_cells():
    assert cells("東嶺 ab") == 7
    assert cells("e\u0301") == 1


@given(st.text(), st.integers(1, 40))
def test_padding_is_exact(text, width):
    assert cells(padded(text, width)) == width
    assert cells(clipped(text, width)) <= width


@given(
    st.text(alphabet="ab 東", min_size=20)
    | st.text(alphabet=st.characters(exclude_categories=["C", "Z", "M"]) | st.just(" ")),
    st.integers(4, 12),
)
def test_wrapped_lines_fit_and_lose_only_spaces(text, width):
    lines = list(wrapped(text, width))
    assert all(cells(line) <= width for _, line in lines)
    assert "".join(line for _, line in lines).replace(" ", "") == text.replace(" ", "")
    assert all(text[offset : offset + len(line)] == line for offset, line in lines)


def test_progress_keeps_one_line_a_stage_on_a_terminal():
    screen = _Screen()
    progress = ProgressLine(screen)
    progress("chunks", 500, False)
    progress("chunks", 730, True)
    progress("tables", 13, True)
    assert screen.getvalue().count("\n") == 2
    assert "\r\x1b[2Kchunks: 730" in screen.getvalue()


def test_a_stage_is_shown_as_soon_as_it_begins():
    screen = _Screen()
    ProgressLine(screen)("tables", 0, False)
    assert screen.getvalue() == "\r\x1b[2Ktables ..."


def test_progress_is_whole_lines_elsewhere():
    log = io.StringIO()
    progress = ProgressLine(log)
    progress("chunks", 500, False)
    progress("chunks", 730, True)
    assert log.getvalue().startswith("chunks: 730")
    assert log.getvalue().endswith("\n")


def test_a_progress_line_left_open_is_ended(monkeypatch):
    times = iter([0.0, 1.0])
    monkeypatch.setattr("latence_retrieval.cli.progress.time.monotonic", lambda: next(times))
    screen = _Screen()
    progress = ProgressLine(screen)
    progress("chunks", 500, False)
    progress("chunks", 1000, False)
    progress.close()
    assert screen.getvalue().endswith("chunks: 1,000 ...\n")

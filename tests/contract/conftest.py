"""What the contract tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of tests that build the wheel and install it, for which pip asks its index."""
    config.addinivalue_line("markers", "bare_install: builds the wheel and installs it into an empty environment")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT

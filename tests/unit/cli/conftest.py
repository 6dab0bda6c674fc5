"""The bundled sample as the command line publishes it, and a way to run one command."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from latence_retrieval.cli import main
from latence_retrieval.cli.sample_data import build_sample

SAMPLE = Path(__file__).resolve().parents[3] / "src" / "latence_retrieval" / "cli" / "sample"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process."""

    def run_main(*arguments: object) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run_main


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, published without vectors."""
    return build_sample(tmp_path_factory.mktemp("published") / "sidecar").path


@pytest.fixture
def sample_arguments() -> list[object]:
    """The options that build the sample from its files."""
    files = {name: SAMPLE / f"{name}.jsonl" for name in ("chunks", "entities", "facts", "relations")}
    return [part for name, path in files.items() for part in (f"--{name}", path)]


@pytest.fixture
def one_row_npy(tmp_path: Path) -> Path:
    """One row of 16 numbers, as numpy.save writes it."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 16), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    path = tmp_path / "row.npy"
    data = struct.pack("<16f", 1.0, *[0.0] * 15)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
    return path

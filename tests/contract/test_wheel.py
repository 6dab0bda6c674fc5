"""The wheel in an empty environment: pydantic's closure and nothing else, and everything answers there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = ("numpy", "lmdb", "torch", "hnswlib", "rapidfuzz", "jellyfish", "gliner2", "gliner", "sentence_transformers")

_CLOSURE = """
import json
from importlib.metadata import distribution, distributions
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name as canonical

wanted, found = ["pydantic"], set()
while wanted:
    name = canonical(wanted.pop())
    if name not in found:
        found.add(name)
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                wanted.append(requirement.name)
installed = sorted(canonical(d.metadata["Name"]) for d in distributions())
print(json.dumps([sorted(found), installed]))
"""

_TIERS = """
import json, sys
from latence_retrieval import build_sidecar, retrieve_evidence
unit = lambda at: [1.0 if place == at else 0.1 for place in range(4)]
chunks = [
    {"id": "a", "title": "Orrin Works", "text": "Orrin Works is led by Ada Morrow.", "vector": unit(0)},
    {"id": "b", "title": "Ada Morrow", "text": "Ada Morrow was born in Brack.", "vector": unit(1)},
]
build_sidecar("sidecar", chunks=chunks, titles_as_entities=True)
named = retrieve_evidence("Where was the head of Orrin Works born?", sidecar="sidecar", tiers=["alias"])
near = retrieve_evidence("whose birthplace?", sidecar="sidecar", embedding=unit(1), tiers=["ann", "alias"])
print(json.dumps({
    "named": [[a.tier, a.name] for a in named.anchors],
    "near": [a.tier for a in near.anchors],
    "packed": [c.chunk.id for c in named.selection.chunks],
    "backend": "sqlite3" in sys.modules,
}))
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the built wheel and what pip brought for it; its `bin`."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    directory = tmp_path_factory.mktemp("bare")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", directory / "dist", ROOT)
    (wheel,) = (directory / "dist").glob("*.whl")
    venv.create(directory / "env", with_pip=True)
    scripts = directory / "env" / ("Scripts" if os.name == "nt" else "bin")
    _run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return scripts


def _run(*command: object, cwd: Path | None = None) -> str:
    """Run a command with neither this environment's packages nor its path; return what it printed."""
    clean = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
    }
    ran = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=clean,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.bare_install
def test_the_wheel_brings_pydantic_s_closure_and_nothing_else(bare):
    closure, installed = json.loads(_run(bare / "python", "-c", _CLOSURE))
    assert set(installed) - {"pip", "setuptools"} == {"latence-retrieval", *closure}
    assert not {name.replace("_", "-") for name in OPTIONAL} & set(installed)


@pytest.mark.bare_install
def test_the_demo_works_in_a_bare_environment(bare, tmp_path):
    out = _run(bare / "latence-retrieval", "demo", cwd=tmp_path)
    assert "All 12 questions" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bare_install
def test_tiers_zero_and_one_answer_over_sqlite_in_a_bare_environment(bare, tmp_path):
    told = json.loads(_run(bare / "python", "-c", _TIERS, cwd=tmp_path))
    assert told["named"][0] == ["alias", "Orrin Works"]
    assert set(told["near"]) == {"ann"}
    assert told["packed"][:2] == ["a", "b"]
    assert told["backend"]


@pytest.mark.bare_install
def test_absent_extras_are_listed_with_their_install_lines(bare):
    told = {plugin["name"]: plugin for plugin in json.loads(_run(bare / "latence-retrieval", "plugins", "--json"))}
    assert {plugin["state"] for plugin in told.values()} == {"needs-extra"}
    assert told["kv.lmdb"]["detail"] == "pip install 'latence-retrieval[lmdb]'"


@pytest.mark.parametrize("module", ["latence_retrieval", "latence_retrieval.evidence", "latence_retrieval.cli"])
def test_importing_loads_no_optional_package_though_it_is_installed(module):
    code = f"import sys, {module}; print([name for name in {OPTIONAL!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_importing_the_package_touches_no_entry_point_and_configures_no_logging():
    code = (
        "import sys, logging, latence_retrieval; "
        "print('importlib.metadata' in sys.modules and 'latence_retrieval.plugins' in sys.modules, logging.root.handlers)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False []\n"
    )

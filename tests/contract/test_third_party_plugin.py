"""A third party's plugin, from a wheel that this test makes itself, in an environment of its own."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

PLUGIN = '''
"""A tier that knows one name."""
from latence_retrieval.ports.entry_tier import Span, TierOutcome


class ShoutTier:
    latence_plugin_protocol = 1
    name = "shout"

    def __init__(self, *, word):
        self._word = word

    def enter(self, request):
        start = request.query.find(self._word)
        spans = [Span(start, start + len(self._word), self._word)] if start >= 0 else []
        return request.link_spans(spans, self.name)


class NeedyTier(ShoutTier):
    latence_plugin_requires = ("a_package_that_is_absent",)
    latence_plugin_extra = "model"
'''

BROKEN = "raise SystemExit('this plugin ends the program')\n"

ENTRY_POINTS = """
[latence.retrieval]
entry.shout = acme_shout:ShoutTier
entry.needy = acme_shout:NeedyTier
entry.broken = acme_broken:Tier
"""

PROGRAM = """
import json, sys
from latence_retrieval import plugins
from latence_retrieval.build.build import build_sidecar
from latence_retrieval.evidence.retrieve import retrieve_evidence

build_sidecar(sys.argv[1], chunks=[{"id": "c1", "text": "Zorblax makes pumps.", "title": "Zorblax"}],
              entities=[{"id": "z", "name": "Zorblax"}])
tier = plugins.create("entry.shout", word="Zorblax")
result = retrieve_evidence("What does Zorblax make?", sidecar=sys.argv[1], tiers=["alias", tier])
listed = {info.name: [str(info.state), info.distribution, info.version, info.detail] for info in plugins.discover()}

from latence_retrieval.errors import MissingExtraError
from latence_retrieval_gliner2 import Gliner2Tier

def raised(call):
    try:
        call()
    except MissingExtraError as error:
        return error.install

question, second = "What does Zorblax make?", Gliner2Tier(model="/models/none")
degraded = retrieve_evidence(question, sidecar=sys.argv[1], tiers=["ann", "alias", second])
without = {
    "created": raised(lambda: plugins.create("entry.gliner2", model="/models/none")),
    "strict": raised(lambda: retrieve_evidence(question, sidecar=sys.argv[1], tiers=["alias", second], strict=True)),
    "record": [[record.tier, str(record.state), record.detail or ""] for record in degraded.tiers],
    "passages": [item.chunk_id for item in degraded.ranking],
}
heavy = sorted({"torch", "numpy", "lmdb", "gliner2", "gliner", "sentence_transformers", "hnswlib"} & set(sys.modules))
print(json.dumps({"plugins": listed, "tiers": [record.tier for record in result.tiers],
                  "passages": [item.chunk_id for item in result.ranking], "heavy": heavy,
                  "without": without}))
"""


def _wheel(directory: Path) -> Path:
    """Write a wheel by hand: no build tool, no network."""
    info = "acme_shout-1.2.3.dist-info"
    files = {
        "acme_shout.py": PLUGIN,
        "acme_broken.py": BROKEN,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: acme-shout\nVersion: 1.2.3\nProvides-Extra: model\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": ENTRY_POINTS,
    }
    path = directory / "acme_shout-1.2.3-py3-none-any.whl"
    rows = []
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(text.encode())}")
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,", ""]))
    return path


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the project's own wheel and the third party's; pydantic is lent by this one.

    Both are installed by pip with `--no-index --no-deps`, so that nothing is fetched. pydantic and what it needs
    come through a `.pth` file, because no wheel of them is at hand offline.
    """
    pytest.importorskip("hatchling", reason="building the project's wheel needs hatchling")
    root = tmp_path_factory.mktemp("third-party")
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    built = subprocess.run(
        [sys.executable, "-c", build, str(root)], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    project = root / built.stdout.strip().splitlines()[-1]
    venv.create(root / "venv", with_pip=True)
    executable = root / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run(
        [str(executable), "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(project), str(_wheel(root))],
        check=True,
        capture_output=True,
    )
    _lend_pydantic(executable)
    return executable


def _lend_pydantic(executable: Path) -> None:
    """Link pydantic and its requirements, and nothing else, into the environment."""
    where = subprocess.run(
        [str(executable), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    target = Path(where.stdout.strip())
    import pydantic

    source = Path(pydantic.__file__).parents[1]
    names = ("pydantic", "pydantic_core", "annotated_types", "typing_extensions.py", "typing_inspection")
    for name in names:
        if (source / name).exists():
            (target / name).symlink_to(source / name)
    for info in source.glob("*.dist-info"):
        if info.name.split("-")[0] in {name.removesuffix(".py") for name in names}:
            (target / info.name).symlink_to(info)


@pytest.fixture(scope="module")
def report(python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a program in that environment sees."""
    snapshot = tmp_path_factory.mktemp("snapshot") / "snapshot"
    done = subprocess.run(
        [str(python), "-I", "-c", textwrap.dedent(PROGRAM), str(snapshot)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_third_partys_plugin_is_ready_with_its_own_distribution_and_version(report: dict[str, dict]) -> None:
    assert report["plugins"]["entry.shout"] == ["ready", "acme-shout", "1.2.3", ""]


def test_its_tier_takes_part_in_a_retrieval(report: dict[str, list]) -> None:
    assert report["tiers"] == ["alias", "shout"]
    assert report["passages"] == ["c1"]


def test_a_missing_extra_is_the_third_partys_own_install_line(report: dict[str, dict]) -> None:
    assert report["plugins"]["entry.needy"] == ["needs-extra", "acme-shout", "1.2.3", "pip install 'acme-shout[model]'"]


def test_a_plugin_that_ends_the_program_is_broken_and_the_others_go_on(report: dict[str, dict]) -> None:
    state, _, _, detail = report["plugins"]["entry.broken"]
    assert state == "broken"
    assert "SystemExit" in detail


def test_the_first_partys_plugins_come_through_the_same_door(report: dict[str, dict]) -> None:
    expected = {
        "entry.gliner2": "gliner2",
        "relq.gliner2": "gliner2",
        "entry.gliner": "gliner",
        "rerank.cross-encoder": "rerank",
        "kv.lmdb": "lmdb",
        "index.hnsw": "hnsw",
    }
    for name, extra in expected.items():
        state, distribution, _, detail = report["plugins"][name]
        assert (state, distribution) == ("needs-extra", "latence-retrieval")
        assert detail == f"pip install 'latence-retrieval[{extra}]'"


def test_tier_2_without_its_extra_is_the_install_line(report: dict[str, dict]) -> None:
    line = "pip install 'latence-retrieval[gliner2]'"
    assert report["without"]["created"] == line
    assert report["without"]["strict"] == line


def test_without_strict_the_other_tiers_answer_and_the_record_says_what_is_missing(report: dict[str, dict]) -> None:
    records = {tier: (state, detail) for tier, state, detail in report["without"]["record"]}
    assert records["gliner2"][0] == "failed"
    assert "pip install 'latence-retrieval[gliner2]'" in records["gliner2"][1]
    assert records["alias"][0] == "linked"
    assert report["without"]["passages"] == ["c1"]


def test_listing_plugins_imports_no_heavy_package(report: dict[str, list]) -> None:
    assert report["heavy"] == []

"""The plugin seam, against real metadata directories written to a temporary path."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from latence_retrieval import plugins
from latence_retrieval.errors import (
    BrokenPluginError,
    DuplicatePluginError,
    MissingExtraError,
    UnknownPluginError,
)
from latence_retrieval.plugins import PluginState

READY = """
    def make(*, colour="red"):
        return ("made", colour)
    make.latence_plugin_protocol = 1
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a distribution with entry points and one module."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def _install(
        distribution: str, entries: str, *, module: str = "", source: str = READY, version: str = "1.2"
    ) -> None:
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[latence.retrieval]\n{entries}\n")
        if module:
            (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
        plugins.refresh()

    plugins.refresh()
    before = set(sys.modules)
    yield _install
    for name in set(sys.modules) - before:
        if name.startswith("plug_"):
            del sys.modules[name]
    monkeypatch.undo()
    plugins.refresh()


def _info(name: str) -> plugins.PluginInfo:
    return next(info for info in plugins.discover() if info.name == name)


def test_a_ready_plugin_is_listed_with_its_distribution_and_version(install: Install) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme")
    info = _info("entry.acme")
    assert (info.distribution, info.version, info.state, info.detail) == (
        "acme-tier",
        "1.2",
        PluginState.READY,
        "",
    )


def test_create_calls_the_factory_with_the_options(install: Install) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme")
    assert plugins.create("entry.acme", colour="blue") == ("made", "blue")


def test_create_lets_the_factorys_own_error_through(install: Install) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme")
    with pytest.raises(TypeError, match="shade"):
        plugins.create("entry.acme", shade="blue")


def test_an_absent_package_is_needs_extra_with_the_exact_install_line(install: Install) -> None:
    source = READY + "    make.latence_plugin_requires = ('json', 'absent_package_xyz')\n"
    install(
        "acme-tier",
        "entry.acme = plug_acme:make",
        module="plug_acme",
        source=source + "    make.latence_plugin_extra = 'model'\n",
    )
    info = _info("entry.acme")
    assert info.state is PluginState.NEEDS_EXTRA
    assert info.detail == "pip install 'acme-tier[model]'"
    with pytest.raises(MissingExtraError, match="absent_package_xyz") as caught:
        plugins.load("entry.acme")
    assert caught.value.install in str(caught.value)


def test_an_absent_package_without_an_extra_names_the_package_to_install(install: Install) -> None:
    source = READY + "    make.latence_plugin_requires = ('absent_package_xyz',)\n"
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme", source=source)
    assert _info("entry.acme").detail == "pip install absent_package_xyz"


def test_a_required_package_is_looked_for_but_not_imported(install: Install, tmp_path: Path) -> None:
    (tmp_path / "plug_heavy.py").write_text("raise AssertionError('imported')")
    source = READY + "    make.latence_plugin_requires = ('plug_heavy',)\n"
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme", source=source)
    assert _info("entry.acme").state is PluginState.READY


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import absent_module_xyz", "absent_module_xyz"),
        ("raise SystemExit(3)", "SystemExit"),
        ("class Odd(BaseException): pass\nraise Odd('strange')", "strange"),
        ("def make(: pass", "SyntaxError"),
        ("other = 1", "make"),
        ("make = 5", "not callable"),
        ("def make(): pass", "latence_plugin_protocol = None"),
        ("def make(): pass\nmake.latence_plugin_protocol = 2", "latence_plugin_protocol = 2"),
        ("def make(): pass\nmake.latence_plugin_protocol = True", "latence_plugin_protocol = True"),
        (
            "def make(): pass\nmake.latence_plugin_protocol = 1\nmake.latence_plugin_requires = 'torch'",
            "latence_plugin_requires",
        ),
    ],
)
def test_a_broken_plugin_says_why_and_leaves_the_others_ready(install: Install, source: str, said: str) -> None:
    install("good", "entry.good = plug_good:make", module="plug_good")
    install("bad", "entry.bad = plug_bad:make", module="plug_bad", source=source)
    assert _info("entry.good").state is PluginState.READY
    info = _info("entry.bad")
    assert info.state is PluginState.BROKEN
    assert said in info.detail
    with pytest.raises(BrokenPluginError, match=r"entry\.bad"):
        plugins.load("entry.bad")


def test_a_keyboard_interrupt_is_not_swallowed(install: Install) -> None:
    install("bad", "entry.bad = plug_bad:make", module="plug_bad", source="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        plugins.discover()


@pytest.mark.parametrize("name", ["acme", "entry.", "tier.acme", "Entry.Acme", "entry.a b"])
def test_a_name_outside_the_grammar_is_broken(install: Install, name: str) -> None:
    install("acme-tier", f"{name} = plug_acme:make", module="plug_acme")
    info = _info(name.strip())
    assert info.state is PluginState.BROKEN
    assert "<kind>.<name>" in info.detail


def test_one_name_from_two_distributions_is_refused(install: Install) -> None:
    install("one", "entry.same = plug_one:make", module="plug_one")
    install("two", "entry.same = plug_two:make", module="plug_two")
    info = _info("entry.same")
    assert info.state is PluginState.BROKEN
    assert info.distribution == "one, two"
    with pytest.raises(DuplicatePluginError, match="one, two"):
        plugins.load("entry.same")


def test_an_unknown_name_lists_what_there_is(install: Install) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme")
    with pytest.raises(UnknownPluginError, match=r"entry\.acme"):
        plugins.load("entry.amce")


def test_unreadable_entry_points_are_broken_under_the_distributions_name(install: Install) -> None:
    install("good", "entry.good = plug_good:make", module="plug_good")
    install("garbled", "this line has no equals sign")
    assert _info("entry.good").state is PluginState.READY
    assert _info("garbled").state is PluginState.BROKEN


def test_unreadable_metadata_elsewhere_does_not_disturb_discovery(install: Install, tmp_path: Path) -> None:
    install("good", "entry.good = plug_good:make", module="plug_good")
    other = tmp_path / "other-1.dist-info"
    other.mkdir()
    (other / "entry_points.txt").write_text("garbage without a section\n[x]\nno equals\n")
    (tmp_path / "nameless-1.dist-info").mkdir()
    (tmp_path / "nameless-1.dist-info" / "entry_points.txt").write_bytes(b"[latence.retrieval]\n\xff\xfe = x:y")
    plugins.refresh()
    assert _info("entry.good").state is PluginState.READY


def test_an_earlier_directory_shadows_the_same_distribution(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme")
    first = tmp_path / "first"
    info = first / "Acme.Tier-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Acme.Tier\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[latence.retrieval]\nentry.acme = plug_acme:make\n")
    monkeypatch.syspath_prepend(str(first))
    plugins.refresh()
    assert _info("entry.acme").version == "2.0"


def test_the_scan_is_kept_until_refresh(install: Install, tmp_path: Path) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme")
    assert _info("entry.acme").state is PluginState.READY
    (tmp_path / "acme_tier-1.2.dist-info" / "entry_points.txt").write_text("")
    assert _info("entry.acme").state is PluginState.READY
    plugins.refresh()
    assert "entry.acme" not in {info.name for info in plugins.discover()}


def test_a_repaired_plugin_is_ready_after_refresh(install: Install, tmp_path: Path) -> None:
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme", source="raise RuntimeError")
    assert _info("entry.acme").state is PluginState.BROKEN
    (tmp_path / "plug_acme.py").write_text(textwrap.dedent(READY))
    assert _info("entry.acme").state is PluginState.BROKEN
    plugins.refresh()
    assert _info("entry.acme").state is PluginState.READY


def test_eight_threads_that_load_at_once_get_one_factory(install: Install) -> None:
    source = "import time\ntime.sleep(0.05)\n" + textwrap.dedent(READY)
    install("acme-tier", "entry.acme = plug_acme:make", module="plug_acme", source=source)
    got: list[object] = []
    threads = [threading.Thread(target=lambda: got.append(plugins.load("entry.acme"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len({id(factory) for factory in got}) == 1


def test_importing_the_module_scans_nothing() -> None:
    code = (
        "import importlib.metadata as m\n"
        "def no(*a, **k): raise AssertionError('scanned')\n"
        "m.distributions = m.entry_points = m.distribution = no\n"
        "import latence_retrieval.plugins\n"
    )
    # pydantic asks for its own plugins when the first model class is made, so it is imported beforehand
    prelude = "import pydantic\nclass M(pydantic.BaseModel): pass\n"
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

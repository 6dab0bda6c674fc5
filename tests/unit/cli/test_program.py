from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from latence_retrieval import __version__
from latence_retrieval.cli.exits import EXIT_CODES, ExitCode

PROGRAM = [sys.executable, "-m", "latence_retrieval.cli"]
VERBS = ["build", "demo", "inspect", "plugins", "query", "verify"]


def test_version_is_the_package_s(run):
    ran = run("--version")
    assert (ran.code, ran.out) == (0, f"latence-retrieval {__version__}\n")


def test_no_verb_is_bad_usage(run):
    ran = run()
    assert ran.code == ExitCode.BAD_INPUT
    assert "VERB" in ran.err


def test_an_unknown_verb_is_bad_usage(run):
    assert run("ask").code == ExitCode.BAD_INPUT


def test_help_lists_every_verb_and_the_exit_codes(run):
    ran = run("--help")
    assert ran.code == 0
    assert all(verb in ran.out for verb in VERBS)
    assert EXIT_CODES.strip() in ran.out


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_s_help_states_the_exit_codes(run, verb):
    ran = run(verb, "--help")
    assert ran.code == 0
    assert EXIT_CODES.strip() in ran.out


def test_exit_codes_in_the_help_are_those_of_the_type():
    stated = {int(line.split()[0]) for line in EXIT_CODES.splitlines()[1:]}
    assert stated == {int(code) for code in ExitCode}


def test_abbreviated_options_are_refused(run, published):
    assert run("query", published, "Who?", "--budget", "9").code == ExitCode.BAD_INPUT


def test_a_directory_that_cannot_be_read_as_input_is_one_line(run, tmp_path):
    ran = run("build", tmp_path / "out", "--chunks", tmp_path)
    assert ran.code == ExitCode.BAD_INPUT
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_a_reader_that_goes_away_ends_the_program_quietly():
    process = subprocess.Popen([*PROGRAM, "demo", "--all"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() == ExitCode.BROKEN_PIPE
    assert errors == b""


def test_an_interrupt_ends_the_program_in_one_line_and_publishes_nothing(tmp_path: Path):
    pipe = tmp_path / "chunks.jsonl"
    os.mkfifo(pipe)  # the build waits for its input
    target = tmp_path / "sidecar"
    process = subprocess.Popen([*PROGRAM, "build", str(target), "--chunks", str(pipe)], stderr=subprocess.PIPE)
    with pipe.open("w") as writer:  # opens once the build reads
        writer.write('{"id": "a", "text": "one"}\n')
        writer.flush()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED
    assert errors.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chunks.jsonl"]


def test_output_in_an_encoding_that_lacks_the_letters_is_replaced_not_fatal(published):
    ran = subprocess.run(
        [*PROGRAM, "inspect", str(published), "--entity", "org:torei"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert ran.returncode == 0
    assert b"?" in ran.stdout

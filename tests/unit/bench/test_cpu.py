"""The CPU of processes, read from outside."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.cpu import children, children_s, cpu_s, stat

BURN = "import time\nwhile time.process_time() < 0.3: pass\n"
BELOW = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BURN!r}])
child = subprocess.Popen([sys.executable, "-c", {BURN + "import sys; print('burnt', flush=True); sys.stdin.read()"!r}],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_process_and_those_below_it_that_live_and_that_have_ended_are_counted() -> None:
    command = [sys.executable, "-c", BELOW]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        (child,) = children(process.pid)

        assert stat(child).parent == process.pid
        assert stat(process.pid).parent == os.getpid()
        assert stat(process.pid).ended_s >= 0.25
        assert cpu_s(child) >= 0.3
        assert children_s(process.pid) >= stat(process.pid).ended_s + 0.3
        process.communicate()

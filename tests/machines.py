"""Three machines on one: network namespaces with their own addresses, links and file systems.

python tests/machines.py COMMAND...   runs a command on the first of three machines
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

PATIENCE = 240


def why_not() -> str | None:
    """Why there can be no machines here; None if there can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "unshare", "mount"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    name = f"ml{secrets.token_hex(3)}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        return f"`ip netns add` is refused: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return None


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Machines:
    """A scheduler's machine and two workers' machines, each with a link to the first.

    The first has the addresses 10.77.1.1 and 10.77.2.1 and forwards between the links; the others
    are 10.77.1.2 and 10.77.2.2. Each has a /tmp that no other sees, and sees nothing of ``hidden``.

    Parameters
    ----------
    folder : Path
        For logs.
    hidden : list of Path
        Folders of the client's disk, which are empty on the other machines.
    """

    def __init__(self, folder: Path, hidden: list[Path]) -> None:
        self.folder, self.hidden = folder, hidden
        self._token = secrets.token_hex(2)
        self.names = [f"ml{self._token}{number}" for number in range(3)]
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            for name in self.names:
                _ip("netns", "add", name)
                _ip("-n", name, "link", "set", "lo", "up")
            for number in (1, 2):
                here, there = f"v{self._token}{number}a", f"v{self._token}{number}b"
                _ip("link", "add", here, "type", "veth", "peer", "name", there)
                for end, name, last in ((here, self.names[0], 1), (there, self.names[number], 2)):
                    _ip("link", "set", end, "netns", name)
                    _ip("-n", name, "addr", "add", f"10.77.{number}.{last}/24", "dev", end)
                    _ip("-n", name, "link", "set", end, "up")
                _ip("-n", self.names[number], "route", "add", "default", "via", f"10.77.{number}.1")
            self.run(0, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.kill()
        for process in self._processes:
            process.wait(PATIENCE)
        for name in self.names:
            # Deleting a namespace deletes its links.
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def run(self, number: int, *words: str) -> None:
        """Run a program on a machine to its end."""
        subprocess.run(["ip", "netns", "exec", self.names[number], *words], check=True)

    def start(self, number: int, *words: str, log: str, env: dict[str, str]) -> subprocess.Popen:
        """Start a program on a machine; machines other than the first have a disk of their own."""
        own = [sys.executable, __file__, "--own-disk", *map(str, self.hidden), "--"]
        command = ["ip", "netns", "exec", self.names[number]]
        if number:
            command += ["unshare", "--mount", *own]
        with open(self.folder / f"{log}.log", "ab") as output:
            process = subprocess.Popen(
                [*command, *words],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                env=os.environ | env,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def cut(self, number: int) -> None:
        """Take the link of a machine down, without a notice to either end."""
        _ip("-n", self.names[0], "link", "set", f"v{self._token}{number}a", "down")

    def mend(self, number: int) -> None:
        _ip("-n", self.names[0], "link", "set", f"v{self._token}{number}a", "up")


def _on_own_disk(words: list[str]) -> None:
    """Cover folders of others in this mount namespace, and become another program."""
    end = words.index("--")
    mount = shutil.which("mount") or "mount"
    for folder in [*words[:end], "/tmp"]:
        if Path(folder).is_dir():
            subprocess.run([mount, "-t", "tmpfs", "tmpfs", folder], check=True)
    os.chdir("/tmp")
    os.execv(words[end + 1], words[end + 1 :])


def wait_for(path: Path, process: subprocess.Popen) -> None:
    """Wait until a file exists."""
    until = time.monotonic() + PATIENCE
    while not path.exists():
        if process.poll() is not None:
            raise RuntimeError(f"the process ended with code {process.returncode}")
        if time.monotonic() > until:
            raise TimeoutError(f"{path} does not appear")
        time.sleep(0.05)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--own-disk"]:
        _on_own_disk(sys.argv[2:])
    if reason := why_not():
        sys.exit(f"No machines: {reason}.")
    with contextlib.ExitStack() as stack:
        machines = stack.enter_context(Machines(Path.cwd(), []))
        machines.run(0, *sys.argv[1:])

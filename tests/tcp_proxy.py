"""A link between two addresses that a test can make slow, narrow or broken."""

from __future__ import annotations

import argparse
import contextlib
import socket
import threading
import time
from typing import Self


class Proxy:
    """Forwards connections; the kernel's own tool for this, netem, is often missing.

    Parameters
    ----------
    target : (str, int)
        Where connections go.
    host, port
        Where it listens; by default a free port of loopback.
    delay : float
        Seconds that bytes are late, in each direction.
    bandwidth : float, optional
        Bytes per second of each direction of a connection.
    """

    def __init__(self, target, host="127.0.0.1", port=0, delay=0.0, bandwidth=None) -> None:
        self.target, self.delay, self.bandwidth = target, delay, bandwidth
        self.n_connections = self.n_bytes = self.n_cuts = 0
        #: Cut each connection after this many bytes from the target, this many times.
        self.cut_after: int | None = None
        self.cuts_left = 0
        self._open: set[socket.socket] = set()
        self._up = threading.Event()
        self._up.set()
        self._lock = threading.Lock()
        self._listening = socket.create_server((host, port), backlog=128)
        self.host, self.port = self._listening.getsockname()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        # A shutdown wakes the thread that waits for connections; closing alone does not.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """Break every connection, and refuse new ones until `mend`."""
        self._up.clear()
        self._break_all()

    def mend(self) -> None:
        self._up.set()

    def _break_all(self) -> None:
        with self._lock:
            broken, self._open = self._open, set()
        for end in broken:
            _close(end)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if not self._up.is_set():
                _close(near)
                continue
            threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        time.sleep(self.delay)
        try:
            far = socket.create_connection(self.target)
        except OSError:
            _close(near)
            return
        with self._lock:
            self.n_connections += 1
            self._open |= {near, far}
        threading.Thread(target=self._forward, args=(near, far, False), daemon=True).start()
        self._forward(far, near, True)

    def _forward(self, source: socket.socket, target: socket.socket, back: bool) -> None:
        seen = 0
        # Bytes in flight: a delay must not reduce the bandwidth.
        waiting: list[tuple[float, bytes]] = []
        ready = threading.Condition()

        def send() -> None:
            while True:
                with ready:
                    while not waiting:
                        ready.wait()
                    due, data = waiting.pop(0)
                time.sleep(max(0.0, due - time.monotonic()))
                if not data:
                    with contextlib.suppress(OSError):
                        target.shutdown(socket.SHUT_WR)
                    return
                try:
                    target.sendall(data)
                except OSError:
                    return
                if self.bandwidth:
                    time.sleep(len(data) / self.bandwidth)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        while True:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            seen += len(data)
            self.n_bytes += len(data)
            if back and self._should_cut(seen):
                _close(source)
                _close(target)
                data = b""
            with ready:
                waiting.append((time.monotonic() + self.delay, data))
                ready.notify()
            if not data:
                break
        sender.join()

    def _should_cut(self, seen: int) -> bool:
        with self._lock:
            if self.cut_after is None or seen < self.cut_after or self.cuts_left <= 0:
                return False
            self.cuts_left -= 1
            self.n_cuts += 1
            return True


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


def main() -> None:
    """Forward until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("listen", help="HOST:PORT")
    parser.add_argument("target", help="HOST:PORT")
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--bandwidth", type=float)
    given = parser.parse_args()
    (host, port), target = (address.rsplit(":", 1) for address in (given.listen, given.target))
    to = (target[0], int(target[1]))
    with Proxy(to, host, int(port), given.delay, given.bandwidth):
        threading.Event().wait()


if __name__ == "__main__":
    main()

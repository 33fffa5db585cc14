"""Takes spans over OTLP, and forgets them: a collector on loopback HTTP, in a process of its own."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """Answers that everything was taken."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read, and answer."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"collecting on http://127.0.0.1:{server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()

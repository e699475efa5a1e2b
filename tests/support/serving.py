"""A server of a folder on this machine, honest or not: what an update is tried against."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Takes the path that was asked for and the handler; True if it has answered.
Twist = Callable[[str, BaseHTTPRequestHandler], bool]


class Server:
    """A folder that is served; `asked` are the paths, in order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.twist: Twist | None = None
        self.asked: list[str] = []
        self.url = ""
        self.over = threading.Event()


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Serve a folder until the block ends."""
    server = Server(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            if server.twist is not None and server.twist(self.path, self):
                return
            file = server.folder / self.path.removeprefix("/")
            if not file.is_file():
                answer(self, b"", status=404)
                return
            answer(self, file.read_bytes())

        def log_message(self, *args: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.url = f"http://127.0.0.1:{listening.server_address[1]}/"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        listening.shutdown()
        thread.join()
        listening.server_close()


def answer(handler: BaseHTTPRequestHandler, data: bytes, *, status: int = 200) -> None:
    """Send a whole answer."""
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)

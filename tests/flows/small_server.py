"""In place of flows/server/process.py: answers /api/health, and ends as that does when it is unused."""

import importlib.util
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Health(BaseHTTPRequestHandler):
    """Prefect's answer, or the status that SMALL_SERVER_STATUS asks for."""

    def do_GET(self) -> None:
        found = self.path == "/api/health"
        self.send_response(int(os.environ.get("SMALL_SERVER_STATUS", "200")) if found else 404)
        self.end_headers()
        self.wfile.write(os.environ.get("SMALL_SERVER_ANSWER", "true").encode())


def main() -> None:
    lock_path, *arguments = sys.argv[1:]
    if os.environ.get("SMALL_SERVER_FAILS"):
        sys.exit("no such table: flow_run")
    spec = importlib.util.spec_from_file_location("local_process", os.environ["LOCAL_PROCESS"])
    assert spec is not None
    assert spec.loader is not None
    local_process = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(local_process)
    threading.Thread(target=local_process.stop_when_unused, args=(Path(lock_path),), daemon=True).start()
    assert arguments[:2] == ["server", "start"], arguments
    assert Path(os.environ["PREFECT_HOME"]) == Path.cwd(), os.environ["PREFECT_HOME"]
    local_process.be_nice()
    options = dict(zip(arguments[2::2], arguments[3::2], strict=True))
    HTTPServer((options["--host"], int(options["--port"])), Health).serve_forever()


if __name__ == "__main__":
    main()

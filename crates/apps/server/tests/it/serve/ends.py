"""A slow server of one KIND that writes down in NOTES how its calls go: KIND is `pipe`, `older`,
`newer` or `api`. All but the first print the port that they listen at."""
import json, select, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

kind, notes = sys.argv[1], open(sys.argv[2], "a", buffering=1)
SLOW = 12
TOOLS = {"tools": [{"name": "slow", "inputSchema": {"type": "object"}}]}
ABOUT = {"capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
NEWER = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def note(word):
    notes.write(word + "\n")


def result(method):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25"} | ABOUT
    if method == "server/discover" and kind == "newer":
        return {"supportedVersions": ["2026-07-28"]} | ABOUT | NEWER
    if method == "tools/list":
        return TOOLS | (NEWER if kind == "newer" else {})
    return None


def pipe():
    for line in sys.stdin:
        asked = json.loads(line)
        method, number = asked.get("method"), asked.get("id")
        if method == "notifications/cancelled":
            note("told")
        elif method == "tools/call":
            note("begun")
        elif number is not None:
            found = result(method)
            answer = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
            print(json.dumps({"jsonrpc": "2.0", "id": number} | answer), flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, status=200, session=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if session:
            self.send_header("mcp-session-id", session)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def slow(self):
        """Waits for the end of its time, or of the connection."""
        note("begun")
        self.close_connection = True
        until = time.time() + SLOW
        while time.time() < until:
            if select.select([self.connection], [], [], 0.05)[0]:
                # In the older revisions a connection that ends tells nothing.
                return None if kind == "older" else note("told")
        note("done")

    def do_GET(self):
        self.reply(None, 405)

    def do_DELETE(self):
        self.reply(None)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if kind == "api":
            return self.slow()
        asked = json.loads(body)
        method, number = asked.get("method"), asked.get("id")
        if method == "tools/call":
            return self.slow()
        if method == "notifications/cancelled":
            note("told")
        if number is None:
            return self.reply(None, 202)
        found = result(method) if kind == "newer" or method != "server/discover" else None
        if kind == "newer" and method == "initialize":
            found = None
        answer = {"result": found} if found else {"error": {"code": -32601, "message": "no"}}
        status = 404 if kind == "newer" and not found else 200
        session = "s1" if method == "initialize" else None
        self.reply({"jsonrpc": "2.0", "id": number} | answer, status, session)


if kind == "pipe":
    pipe()
else:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()

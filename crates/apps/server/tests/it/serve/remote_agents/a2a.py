"""What the agents of the tests have in common: JSON-RPC of 1.0 at one address, and a card."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    card = {}

    def log_message(self, *_):
        pass

    def answer(self, text, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        place = {"url": "http://" + self.headers["Host"] + "/rpc",
                 "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        self.answer(json.dumps({"version": "1", "skills": [], **self.card,
                                "supportedInterfaces": [place]}))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wrap = lambda result: json.dumps(
            {"jsonrpc": "2.0", "id": asked["id"], "result": result})
        self.asked(asked["method"], asked["params"], wrap)


def serve(agent):
    server = ThreadingHTTPServer(("127.0.0.1", 0), agent)
    with open("port", "w") as port:
        port.write(str(server.server_address[1]))
    server.serve_forever()

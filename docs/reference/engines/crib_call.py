"""One call of a tool of toolcrib under a key: asked again, it runs no second time."""

import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request

REVISION = "2026-07-28"
# The call goes on without whoever waits for it, so that this may be short.
PATIENCE = 60


class AskAgain(Exception):
    """It still runs, or was not sent: ask the same again."""


class Refused(Exception):
    """It was denied, or it failed: the words say why. Asked again, it is told the same."""


class Unknown(Refused):
    """It was sent, and nobody knows how it ended: a person has to look."""


def call(tool, arguments, key):
    """`{"answer": ...}`, or `{"ticket": NAME}` as long as a person has to decide about it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "engine", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "toolcrib/idempotencyKey": fitting(key),
    }
    parameters = {"name": tool, "arguments": arguments, "_meta": meta}
    result = sent(tool, {"id": 1, "method": "tools/call", "params": parameters})
    meta = result.get("_meta", {})
    text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
    if "toolcrib/ticket" in meta:
        return {"ticket": meta["toolcrib/ticket"]}
    if "toolcrib/kind" in meta:
        raise AskAgain(text)
    if "toolcrib/call" in meta:
        raise Unknown(text)
    if result.get("isError"):
        raise Refused(text)
    return {"answer": result.get("structuredContent", text)}


def fitting(key):
    """A key has 255 bytes at the most."""
    return key if len(key.encode()) <= 255 else hashlib.sha256(key.encode()).hexdigest()


def sent(tool, message):
    headers = {
        "Authorization": "Bearer " + os.environ["CRIB_TOKEN"],
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    request = urllib.request.Request(os.environ["CRIB_URL"], body, headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            told = reply.read().decode()
    except urllib.error.HTTPError as error:
        told = error.read().decode(errors="replace")
        # A server that stops, starts or has too much to do says so.
        kind = AskAgain if error.code in (408, 429) or error.code >= 500 else Refused
        raise kind(f"{error.code}: {told}") from error
    except (OSError, http.client.HTTPException) as error:
        raise AskAgain(str(error)) from error
    # An answer is JSON, or the last event of a stream.
    lines = [line.removeprefix("data:").strip() for line in told.splitlines()]
    answers = [line for line in lines if line.startswith("{")]
    if not answers or not ({"result", "error"} & (answer := json.loads(answers[-1])).keys()):
        raise AskAgain("the stream ended before the answer")
    if "error" in answer:
        raise Refused(answer["error"]["message"])
    return answer["result"]

"""The ways to play a turn: through `toolcrib serve`, and by a bare loop of the SDKs."""

import asyncio
import json
import os
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import uvicorn
from mcp import Client

import model as scripted
from classes import World, tool
from tasks import CLASSES

START = 60


class Stage:
    """What stands on both sides of the server: the classes and the model, at one port."""

    def __init__(self, docs, delay=0.0):
        self.docs = docs
        self.world, self.script = World(docs, delay), scripted.Script()

    def begin_turn(self, steps, number):
        self.script.begin(steps, number)
        self.world.ran.clear()

    @asynccontextmanager
    async def open(self):
        app = self.world.app(scripted.routes(self.script))
        # A listener of asyncio's own: connections of a socket that is handed over wait for
        # delayed acknowledgements.
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        served = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        self.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.should_exit = True
            await served


def config(url, store):
    """`url` has the model and the classes; every call may run, and nobody is asked."""
    text = f"""
allow = ["*"]
discovery = "direct"

[store]
url = "sqlite://{store}"

[model]
url = "{url}/v1"
name = "script"

[agent.gold]
budget = {{ turns = 100, calls = 100 }}
"""
    for owner in CLASSES:
        text += f'\n[[source]]\nid = "{owner}"\nmcp = {{ url = "{url}/{owner}" }}\n'
    return text


class Crib:
    """A turn is a request to `/v1/responses`, which goes on from the one before."""

    # A call whose arguments do not fit is refused.
    refuses = True

    def __init__(self, stage, http):
        self.stage, self.http, self.last = stage, http, None

    def begin(self):
        self.last = None

    async def play(self, task, turn):
        """What the client is shown of the results."""
        allowed = {
            owner: [name for name in self.stage.docs[owner] if name not in turn.missing]
            for owner in task.classes
        }
        tools = [
            {
                "type": "mcp",
                "server_label": owner,
                "server_url": self.stage.url,
                "allowed_tools": names,
                "require_approval": "never",
            }
            for owner, names in allowed.items()
        ]
        body = {"model": "gold", "input": turn.words, "tools": tools}
        if self.last:
            body["previous_response_id"] = self.last
        answer = await self.http.post("/v1/responses", json=body)
        answer.raise_for_status()
        answer = answer.json()
        self.last = answer["id"]
        shown = [item for item in answer["output"] if item["type"] == "mcp_call"]
        return [item["error"] if item["output"] is None else item["output"] for item in shown]


@asynccontextmanager
async def crib(stage, server):
    """A `toolcrib serve` of its own, with a record in a file of its own."""
    with tempfile.TemporaryDirectory(prefix="toolcrib-gold-") as folder:
        file = Path(folder) / "crib.toml"
        file.write_text(config(stage.url, Path(folder) / "record.db"))
        words = ["serve", str(file), "--listen", "127.0.0.1:0", "--insecure-local", "--json"]
        kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            server,
            *words,
            env=kept | {"HOME": folder},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            said = await asyncio.wait_for(process.stdout.readuntil(b"\n}"), START)
            url = json.loads(said)["listening"]
            async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as http:
                await all_loaded(http, sum(map(len, stage.docs.values())))
                yield Crib(stage, http), process.pid
        finally:
            process.terminate()
            await process.wait()


async def all_loaded(http, count):
    """Waits until every class has been listed."""
    for _ in range(START * 20):
        tools = (await http.get("/v1/tools", params={"limit": 1000})).json()["tools"]
        if len(tools) >= count:
            return
        await asyncio.sleep(0.05)
    raise SystemExit(f"only {len(tools)} of {count} tools are there after {START} s")


class Bare:
    """The loop that people write: ask, call one after the other by the SDK's client, ask again."""

    # Whatever is called runs.
    refuses = False

    def __init__(self, stage, http, clients):
        self.stage, self.http, self.clients = stage, http, clients
        self.messages = []

    def begin(self):
        self.messages = []

    async def play(self, task, turn):
        docs = self.stage.docs
        tools = [
            {
                "type": "function",
                "function": {
                    "name": f"{owner}__{name}",
                    "description": doc["description"],
                    "parameters": tool(owner, doc).input_schema,
                },
            }
            for owner in task.classes
            for name, doc in docs[owner].items()
            if name not in turn.missing
        ]
        self.messages.append({"role": "user", "content": turn.words})
        shown = []
        while True:
            said = await self.ask({"model": "script", "tools": tools, "messages": self.messages})
            self.messages.append(said)
            if not said.get("tool_calls"):
                return shown
            for call in said["tool_calls"]:
                owner, name = call["function"]["name"].split("__", 1)
                arguments = json.loads(call["function"]["arguments"])
                result = await self.clients[owner].call_tool(name, arguments)
                text = result.content[0].text
                shown.append(text)
                answer = {"role": "tool", "tool_call_id": call["id"], "content": text}
                self.messages.append(answer)

    async def ask(self, body):
        calls, text = [], ""
        request = self.http.stream("POST", "/v1/chat/completions", json=body | {"stream": True})
        async with request as answer:
            async for line in answer.aiter_lines():
                data = line.removeprefix("data: ")
                if not line.startswith("data: ") or data == "[DONE]":
                    continue
                for choice in json.loads(data)["choices"]:
                    calls += choice["delta"].get("tool_calls", [])
                    text += choice["delta"].get("content", "")
        message = {"role": "assistant", "content": text or None}
        return message | ({"tool_calls": calls} if calls else {})


@asynccontextmanager
async def bare(stage):
    async with AsyncExitStack() as stack:
        http = httpx.AsyncClient(base_url=stage.url, timeout=120, trust_env=False)
        await stack.enter_async_context(http)
        clients = {
            owner: await stack.enter_async_context(Client(f"{stage.url}/{owner}"))
            for owner in CLASSES
        }
        yield Bare(stage, http, clients), None

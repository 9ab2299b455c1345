"""A model that says what a script has: it speaks the streaming API of OpenAI, and calls by it."""

import json

from starlette.responses import StreamingResponse
from starlette.routing import Route


class Script:
    """The replies of one turn, and what the model was shown meanwhile."""

    def __init__(self):
        self.begin([])

    def begin(self, steps, turn=0):
        """`steps` are the calls of each reply; behind them the model says a word."""
        self.steps, self.turn, self.made = list(steps), turn, 0
        self.results, self.offered = {}, None

    def reply(self, request):
        """The calls of the next reply, as the API writes them."""
        names = [tool["function"]["name"] for tool in request.get("tools", [])]
        self.offered = self.offered if self.offered is not None else sorted(names)
        for message in request["messages"]:
            if message["role"] == "tool":
                self.results.setdefault(message["tool_call_id"], message["content"])
        if not self.steps:
            return []
        calls = []
        for call in self.steps.pop(0):
            wire = [name for name in names if name == f"{call.owner}__{call.name}"]
            # A call that is not offered is made by its own name, and will be missed.
            name = wire[0] if wire else call.name
            function = {"name": name, "arguments": json.dumps(call.arguments)}
            calls.append({"id": self.id(self.made), "type": "function", "function": function})
            self.made += 1
        return calls

    def id(self, number):
        return f"call_{self.turn}_{number}"

def chunk(delta, reason=None):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion.chunk", "model": "script", "choices": [choice]}


def routes(script):
    async def complete(request):
        calls = script.reply(json.loads(await request.body()))
        numbered = [{"index": index} | call for index, call in enumerate(calls)]
        said = {"tool_calls": numbered} if calls else {"content": "Done."}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        events = [
            chunk({"role": "assistant"} | said),
            chunk({}, "tool_calls" if calls else "stop"),
            chunk({}) | {"choices": [], "usage": usage},
        ]

        async def told():
            for event in events:
                yield f"data: {json.dumps(event)}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(told(), media_type="text/event-stream")

    return [Route("/v1/chat/completions", complete, methods=["POST"])]

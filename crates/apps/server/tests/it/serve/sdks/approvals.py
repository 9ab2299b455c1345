"""A client that asks its user about calls: stops, keeps the run as text, and goes on with a yes."""

import asyncio
import json
import sys

from agents import (
    Agent,
    HostedMCPTool,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    RunState,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

url, token, word = sys.argv[1:]
READS = {"never": {"tool_names": ["list_tasks"]}}


def agent():
    client = AsyncOpenAI(base_url=url, api_key=token)
    tool = {
        "type": "mcp",
        "server_label": "desk",
        "server_url": "https://desk.example/mcp",
        "require_approval": READS,
    }
    return Agent(
        name="x",
        model=OpenAIResponsesModel(model="assistant", openai_client=client),
        tools=[HostedMCPTool(tool_config=tool)],
    )


async def stream(state):
    run = Runner.run_streamed(agent(), state)
    async for _ in run.stream_events():
        pass
    return run


async def main():
    ways = {}
    for way, go in [("run", lambda state: Runner.run(agent(), state)), ("stream", stream)]:
        first = await go("Water the plants.")
        [asked] = first.interruptions
        kept = first.to_state().to_string()
        state = await RunState.from_string(agent(), kept)
        [asked_again] = state.get_interruptions()
        if word == "yes":
            state.approve(asked_again)
        else:
            state.reject(asked_again)
        last = await go(state)
        ways[way] = [asked.name, last.final_output, [item.type for item in last.new_items]]
    print(json.dumps(ways))


set_tracing_disabled(True)
asyncio.run(main())

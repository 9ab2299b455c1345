"""What a turn costs the loops of others: microseconds, as one line of JSON.

Called with the URL of the model, the turns of a long run and the rounds.
"""

import asyncio
import json
import statistics
import sys
import time

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

url, turns, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
DONE = "All is done."


def text_count(text: str) -> dict[str, int]:
    """Counts the characters, words and lines of a text."""
    return {"characters": len(text), "words": len(text.split()), "lines": 1}


def openai_agents():
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url, api_key="none")
    model = OpenAIChatCompletionsModel(model="load", openai_client=client)
    agent = Agent(name="assistant", model=model, tools=[function_tool(text_count)])

    async def run(said):
        return (await Runner.run(agent, said, max_turns=1000)).final_output

    return run


def pydantic_ai():
    provider = OpenAIProvider(base_url=url, api_key="none")
    agent = PydanticAgent(OpenAIChatModel("load", provider=provider), tools=[text_count])
    limits = UsageLimits(request_limit=1000)

    async def run(said):
        return (await agent.run(said, usage_limits=limits)).output

    return run


async def measure(run):
    times = {1: [], turns + 1: []}
    for place in range(rounds + 1):
        for steps, taken in times.items():
            begun = time.perf_counter()
            told = await run(f"steps:{steps}")
            assert told == DONE, told
            if place:  # The first round warms up.
                taken.append((time.perf_counter() - begun) * 1e6)
    short, long = (statistics.median(taken) for taken in times.values())
    return round((long - short) / turns, 1)


async def main():
    found = {}
    for name, loop in [("openai-agents", openai_agents), ("pydantic-ai", pydantic_ai)]:
        found[name] = await measure(loop())
    print(json.dumps(found), flush=True)


asyncio.run(main())

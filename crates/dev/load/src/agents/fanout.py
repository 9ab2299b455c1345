"""How many requests an agent of others makes that gives many tasks away at once, within a bound.

Called with the URL of the model, the bound, and the numbers of tasks; one line of JSON.
"""

import asyncio
import json
import sys

from pydantic_ai import Agent, RunContext
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import RunUsage, UsageLimits

url, bound, numbers = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
model = OpenAIChatModel("load", provider=OpenAIProvider(base_url=url, api_key="none"))
limits = UsageLimits(request_limit=bound)
counter = Agent(model)
boss = Agent(model)


@counter.tool_plain
def text_count(text: str) -> dict[str, int]:
    """Counts the characters of a text."""
    return {"characters": len(text)}


@boss.tool
async def ask_counter(ctx: RunContext[None], task: str) -> str:
    """Gives a task to the counter."""
    told = await counter.run(task, usage=ctx.usage, usage_limits=limits)
    return told.output


async def main():
    found = {}
    for number in numbers:
        usage = RunUsage()
        try:
            await boss.run(f"fanout:{number}", usage=usage, usage_limits=limits)
        except UsageLimitExceeded:
            pass
        found[number] = usage.requests
    print(json.dumps(found), flush=True)


asyncio.run(main())

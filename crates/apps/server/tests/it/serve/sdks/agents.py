"""Clients of agents, each by the ways that it has. Says on one line what each was answered."""

import asyncio
import json
import sys
import time

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI, OpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openai import OpenAIResponsesModel as PydanticResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

url, token = sys.argv[1:]
COUNT, WEATHER = "Count `a b`.", "What is the weather?"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
seen = {}


def last_of(connection):
    for event in connection:
        if event.type in ("response.completed", "error"):
            return event


def openai_ways():
    client = OpenAI(base_url=url, api_key=token)
    assert [model.id for model in client.models.list()] == ["assistant"]
    responses, completions = client.responses, client.chat.completions
    seen["openai responses"] = responses.create(model="assistant", input=COUNT).output_text

    text = ""
    for event in responses.create(model="assistant", input=COUNT, stream=True):
        text += event.delta if event.type == "response.output_text.delta" else ""
    assert event.type == "response.completed"
    seen["openai responses stream"] = text

    with responses.stream(model="assistant", input=COUNT) as stream:
        for _ in stream:
            pass
        seen["openai responses helper"] = stream.get_final_response().output_text

    tool = {"type": "function", "name": "get_weather", "strict": True, "parameters": PARAMETERS}
    first = responses.create(model="assistant", input=WEATHER, tools=[tool])
    [call] = [item for item in first.output if item.type == "function_call"]
    answer = {"type": "function_call_output", "call_id": call.call_id, "output": "11 degrees"}
    second = responses.create(
        model="assistant", previous_response_id=first.id, input=[answer], tools=[tool]
    )
    seen["openai responses weather"] = second.output_text

    with responses.connect() as connection:
        connection.response.create(model="assistant", input=WEATHER, tools=[tool], store=False)
        event = last_of(connection)
        [call] = [item for item in event.response.output if item.type == "function_call"]
        answer = {"type": "function_call_output", "call_id": call.call_id, "output": "11 degrees"}
        connection.response.create(
            model="assistant", previous_response_id=event.response.id, input=[answer], store=False
        )
        seen["openai socket weather"] = last_of(connection).response.output_text
        connection.response.create(model="assistant", previous_response_id="resp_1", input=COUNT)
        assert last_of(connection).error.code == "previous_response_not_found"
        connection.response.create(model="assistant", input=COUNT)
        seen["openai socket"] = last_of(connection).response.output_text

    conversations = client.conversations
    begun = {"type": "message", "role": "user", "content": "Hello."}
    made = conversations.create(metadata={"k": "v"}, items=[begun])
    assert conversations.update(made.id, metadata={"k": "w"}).metadata == {"k": "w"}
    told = responses.create(model="assistant", input=COUNT, conversation=made.id)
    assert told.conversation.id == made.id
    seen["openai conversation"] = told.output_text
    items = conversations.items
    more = {"type": "message", "role": "user", "content": "More."}
    [added] = items.create(made.id, items=[more]).data
    assert items.retrieve(added.id, conversation_id=made.id).content[0].text == "More."
    kinds = [item.type for item in items.list(made.id, order="asc", limit=2)]
    assert kinds == ["message", "message", "mcp_call", "message", "message"], kinds
    assert items.delete(added.id, conversation_id=made.id).id == made.id
    assert len(list(items.list(made.id))) == 4
    assert conversations.retrieve(made.id).metadata == {"k": "w"}
    assert conversations.delete(made.id).deleted
    assert len(list(items.list(conversations.create().id))) == 0

    working = responses.create(model="assistant", input=COUNT, background=True)
    while working.status in ("queued", "in_progress"):
        time.sleep(0.1)
        working = responses.retrieve(working.id)
    assert len(list(responses.retrieve(working.id, stream=True, starting_after=3))) > 5
    assert len(responses.input_items.list(working.id).data) == 1
    seen["openai responses background"] = working.output_text
    responses.delete(working.id)

    asked = [{"role": "user", "content": COUNT}]
    done = completions.create(model="assistant", messages=asked)
    seen["openai chat"] = done.choices[0].message.content

    text, usage = "", None
    options = {"include_usage": True}
    for chunk in completions.create(
        model="assistant", messages=asked, stream=True, stream_options=options
    ):
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        usage = chunk.usage or usage
    assert usage.total_tokens == 220
    seen["openai chat stream"] = text

    function = {"name": "get_weather", "strict": True, "parameters": PARAMETERS}
    tools = [{"type": "function", "function": function}]
    asked = [{"role": "user", "content": WEATHER}]
    with completions.stream(model="assistant", messages=asked, tools=tools) as stream:
        for _ in stream:
            pass
        [call] = stream.get_final_completion().choices[0].message.tool_calls
    function = {"name": call.function.name, "arguments": call.function.arguments}
    called = {"id": call.id, "type": "function", "function": function}
    asked += [
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": call.id, "content": "11 degrees"},
    ]
    done = completions.create(model="assistant", messages=asked, tools=tools)
    seen["openai chat weather"] = done.choices[0].message.content


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather."""
    return f"11 degrees in {city}"


async def agents_ways(name, kind):
    model = kind(model="assistant", openai_client=AsyncOpenAI(base_url=url, api_key=token))
    agent = Agent(name="x", instructions="Be brief.", model=model, tools=[get_weather])
    first = await Runner.run(agent, COUNT)
    seen[f"{name} count"] = first.final_output
    seen[f"{name} weather"] = (await Runner.run(agent, WEATHER)).final_output
    streamed = Runner.run_streamed(agent, COUNT)
    async for _ in streamed.stream_events():
        pass
    seen[f"{name} stream"] = streamed.final_output
    if kind is OpenAIResponsesModel:
        again = first.to_input_list() + [{"role": "user", "content": COUNT}]
        seen[f"{name} second turn"] = (await Runner.run(agent, again)).final_output


async def pydantic_ways(name, kind):
    provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=url, api_key=token))
    agent = PydanticAgent(kind("assistant", provider=provider))

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Tells the weather."""
        return f"11 degrees in {city}"

    seen[f"{name} weather"] = (await agent.run(WEATHER)).output
    async with agent.run_stream(COUNT) as run:
        seen[f"{name} stream"] = await run.get_output()


def langchain_way(name, responses):
    model = ChatOpenAI(
        model="assistant", base_url=url, api_key=token, use_responses_api=responses
    )
    content = model.invoke(COUNT).content
    seen[name] = content if isinstance(content, str) else json.dumps(content)


async def main():
    await agents_ways("agents responses", OpenAIResponsesModel)
    await agents_ways("agents chat", OpenAIChatCompletionsModel)
    await pydantic_ways("pydantic responses", PydanticResponsesModel)
    await pydantic_ways("pydantic chat", OpenAIChatModel)


set_tracing_disabled(True)
openai_ways()
asyncio.run(main())
langchain_way("langchain chat", False)
langchain_way("langchain responses", True)
print(json.dumps(seen))

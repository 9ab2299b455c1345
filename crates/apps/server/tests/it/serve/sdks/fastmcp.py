"""The client of FastMCP. Says on one line what it saw."""

import asyncio
import base64
import json
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StreamableHttpTransport

asked, steps = [], []


async def fill(message, response_type, params, context):
    asked.append(message)
    # The first call is approved, and the second one is not.
    if len(asked) > 1:
        return ElicitResult(action="decline")
    fields = params.requested_schema["properties"]
    content = {name: True if kind["type"] == "boolean" else "x" for name, kind in fields.items()}
    return ElicitResult(action="accept", content=content)


async def progress(done, total, message):
    steps.append(done)


async def main(url, token, era):
    transport = StreamableHttpTransport(url, auth=token)
    client = Client(transport, mode=era, elicitation_handler=fill, progress_handler=progress)
    async with client:

        async def call(name, given):
            return await client.call_tool(name, given, raise_on_error=False)

        tools = await client.list_tools()
        weather = await call("everything__get-structured-content", {"location": "New York"})
        picture = await call("everything__get-tiny-image", {})
        steps.clear()
        await call("everything__trigger-long-running-operation", {"duration": 0.3, "steps": 3})
        heard = list(steps)
        failed = await call("files__read_text_file", {"path": "nowhere.txt"})
        given = {"path": f"{era}.txt", "content": "written"}
        written = await call("files__write_file", given)
        given = {"path": f"{era}-2.txt", "content": "written"}
        kept = await call("files__write_file", given)
        image = next(part for part in picture.content if part.type == "image")
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "tools": len(tools),
                    "structured": weather.structured_content,
                    "image": [image.mime_type, base64.b64decode(image.data)[1:4].decode()],
                    "steps": heard,
                    "failed": [failed.is_error, failed.content[0].text],
                    "asked": asked,
                    "written": [written.is_error, written.content[0].text],
                    "kept": [kept.is_error, kept.content[0].text],
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))

"""The SDK of Python as a client. Says on one line what it saw."""

import base64
import json
import sys

import anyio
import httpx2
import mcp.types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

asked = []


async def fill(context, params):
    asked.append(params.message)
    # The first call is approved, and the second one is not.
    if len(asked) > 1:
        return types.ElicitResult(action="decline")
    fields = params.requested_schema["properties"]
    content = {name: True if kind["type"] == "boolean" else "x" for name, kind in fields.items()}
    return types.ElicitResult(action="accept", content=content)


async def main(url, token, era):
    steps = []

    async def progress(done, total, message):
        steps.append(done)

    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=era, elicitation_callback=fill) as client:
            names, cursor = [], None
            while True:
                page = await client.list_tools(cursor=cursor)
                names.extend(tool.name for tool in page.tools)
                cursor = page.next_cursor
                if cursor is None:
                    break
            call = client.call_tool
            weather = await call("everything__get-structured-content", {"location": "New York"})
            picture = await call("everything__get-tiny-image", {})
            slow = {"duration": 0.3, "steps": 3}
            name = "everything__trigger-long-running-operation"
            await call(name, slow, progress_callback=progress)
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
                        "tools": len(names),
                        "structured": weather.structured_content,
                        "image": [image.mime_type, base64.b64decode(image.data)[1:4].decode()],
                        "steps": steps,
                        "failed": [failed.is_error, failed.content[0].text],
                        "asked": asked,
                        "written": [written.is_error, written.content[0].text],
                        "kept": [kept.is_error, kept.content[0].text],
                    }
                )
            )


anyio.run(main, *sys.argv[1:])

"""A conversation of the client of the SDK with an agent; the last line tells what came of it."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskState,
)

base, token, what, way, streaming = sys.argv[1:]
binding, version = way.split('/')


def message(text, task=None):
    said = Message(message_id='m-' + text, role=Role.ROLE_USER, parts=[Part(text=text)])
    if task:
        said.task_id = task
    return SendMessageRequest(message=said)


class Seen:
    """The task as its events tell it."""

    def __init__(self):
        self.id, self.state, self.status, self.text = '', None, None, ''

    def take(self, event):
        kind = event.WhichOneof('payload')
        if kind == 'task':
            self.id, self.status = event.task.id, event.task.status
            for artifact in event.task.artifacts:
                self.text = ''.join(part.text for part in artifact.parts)
        elif kind == 'status_update':
            self.id, self.status = event.status_update.task_id, event.status_update.status
        elif kind == 'artifact_update':
            update = event.artifact_update
            text = ''.join(part.text for part in update.artifact.parts)
            self.text = self.text + text if update.append else text
        self.state = TaskState.Name(self.status.state) if self.status else None


async def send(client, request):
    seen = Seen()
    async for event in client.send_message(request):
        seen.take(event)
    return seen


def tool_of(status):
    for part in status.message.parts:
        if part.WhichOneof('content') == 'data':
            from google.protobuf.json_format import MessageToDict

            return MessageToDict(part.data).get('tool')
    return None


async def approve(client, card):
    asked = await send(client, message('Water the plants.'))
    done = await send(client, message('yes', asked.id))
    task = await client.get_task(GetTaskRequest(id=asked.id))
    return {
        'card': card.name, 'asked': asked.state, 'tool': tool_of(asked.status), 'end': done.state,
        'text': done.text, 'looked_up': TaskState.Name(task.status.state),
    }


async def refused(asking):
    try:
        await asking
    except Exception as error:  # Its name is what is told.
        return type(error).__name__
    return None


async def errors(client, card):
    done = await send(client, message('Hello.'))
    listed = await client.list_tasks(ListTasksRequest(page_size=10))
    return {
        'missing': await refused(client.get_task(GetTaskRequest(id='none'))),
        'ended': await refused(client.cancel_task(CancelTaskRequest(id=done.id))),
        'again': await refused(send(client, message('More.', done.id))),
        'listed': len(listed.tasks), 'total': listed.total_size,
    }


async def main():
    headers = {'Authorization': 'Bearer ' + token}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        kept = [
            place for place in card.supported_interfaces
            if (place.protocol_binding, place.protocol_version) == (binding, version)
        ]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(kept)
        config = ClientConfig(
            httpx_client=http, streaming=streaming == 'stream',
            supported_protocol_bindings=[binding],
        )
        client = ClientFactory(config).create(card)
        print(json.dumps(await {'approve': approve, 'errors': errors}[what](client, card)))


asyncio.run(main())

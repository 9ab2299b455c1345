"""A conversation of the client of the SDK with an agent; the last line tells what came of it."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskPushNotificationConfig,
    TaskState,
)

base, token, what, way, streaming, *more = sys.argv[1:]
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


async def push(client, card):
    url = more[0]
    request = message('Hello.')
    own = request.configuration.task_push_notification_config
    own.url, own.token = url, 'first'
    done = await send(client, request)
    known = AuthenticationInfo(scheme='Bearer', credentials='secret')
    config = TaskPushNotificationConfig(
        task_id=done.id, id='second', url=url, token='word', authentication=known
    )
    made = await client.create_task_push_notification_config(config)
    asked = GetTaskPushNotificationConfigRequest(task_id=done.id, id='second')
    found = await client.get_task_push_notification_config(asked)
    told = {
        'offered': card.capabilities.push_notifications, 'end': done.state,
        'same': made == found, 'url': found.url == url, 'token': found.token,
        'scheme': found.authentication.scheme, 'credentials': found.authentication.credentials,
    }
    if way == 'HTTP+JSON/0.3':
        return told  # The client has no list and no end of it there.
    asked = ListTaskPushNotificationConfigsRequest(task_id=done.id)
    listed = await client.list_task_push_notification_configs(asked)
    gone = DeleteTaskPushNotificationConfigRequest(task_id=done.id, id='second')
    await client.delete_task_push_notification_config(gone)
    left = await client.list_task_push_notification_configs(asked)
    return {**told, 'listed': len(listed.configs), 'left': len(left.configs)}


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
        talk = {'approve': approve, 'errors': errors, 'push': push}[what]
        print(json.dumps(await talk(client, card)))


asyncio.run(main())

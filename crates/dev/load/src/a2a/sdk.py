"""An agent of the SDK over one model, and the client of the SDK that asks several agents in turns."""

import asyncio
import json
import socket
import statistics
import sys
import time

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    SendMessageRequest,
)
from starlette.applications import Starlette


class OneModel(AgentExecutor):
    """Asks the model once, and says what it says."""

    def __init__(self, url):
        self.url, self.http = url, httpx.AsyncClient()

    async def execute(self, context, queue):
        task = new_task_from_user_message(context.message)
        await queue.enqueue_event(task)
        updater = TaskUpdater(queue, task.id, task.context_id)
        await updater.start_work()
        asked = [{'role': 'user', 'content': context.get_user_input()}]
        body = {'model': 'load', 'messages': asked}
        reply = await self.http.post(self.url + '/chat/completions', json=body)
        said = reply.json()['choices'][0]['message']['content']
        await updater.add_artifact([new_text_part(said)], artifact_id='answer')
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def serve(model):
    listener = socket.create_server(('127.0.0.1', 0))
    base = f'http://127.0.0.1:{listener.getsockname()[1]}'
    card = AgentCard(
        name='Load',
        description='Asks one model.',
        version='1',
        supported_interfaces=[
            AgentInterface(url=base + '/rpc', protocol_binding='JSONRPC', protocol_version='1.0')
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='ask', name='Ask', description='Asks.', tags=['ask'])],
    )
    handler = DefaultRequestHandler(
        agent_executor=OneModel(model), task_store=InMemoryTaskStore(), agent_card=card
    )
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/rpc')]
    print(base, flush=True)
    config = uvicorn.Config(Starlette(routes=routes), log_level='error', timeout_keep_alive=60)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


def words_of(event):
    kind = event.WhichOneof('payload')
    if kind == 'task':
        return ''.join(p.text for a in event.task.artifacts for p in a.parts)
    if kind == 'artifact_update':
        return ''.join(p.text for p in event.artifact_update.artifact.parts)
    return ''


async def ask(rounds, agents):
    """Microseconds of a message to each agent, whole and as a stream, by turns."""
    clients = []
    for base, token in agents:
        headers = {'Authorization': f'Bearer {token}'} if token else {}
        http = httpx.AsyncClient(headers=headers, timeout=60)
        card = await A2ACardResolver(http, base).get_agent_card()
        ways = [
            ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)
            for streaming in (False, True)
        ]
        clients.append([(client, []) for client in ways])
    for round in range(rounds + 1):
        for ways in clients:
            for client, times in ways:
                said = Message(
                    message_id=f'm-{id(client)}-{round}', role=Role.ROLE_USER, parts=[Part(text='hello')]
                )
                begun = time.perf_counter()
                words = ''
                async for event in client.send_message(SendMessageRequest(message=said)):
                    words += words_of(event)
                took = time.perf_counter() - begun
                if 'All is done.' not in words:
                    raise SystemExit(f'the answer is not whole: {words!r}')
                # The first round warms up.
                if round:
                    times.append(took * 1e6)
    middle = lambda times: round_to(statistics.median(times))
    return [{'whole_us': middle(w[0][1]), 'stream_us': middle(w[1][1])} for w in clients]


def round_to(number):
    return float(f'{number:.1f}')


what, *words = sys.argv[1:]
if what == 'serve':
    serve(words[0])
else:
    pairs = list(zip(words[1::2], words[2::2]))
    print(json.dumps(asyncio.run(ask(int(words[0]), pairs))))

"""An agent of the SDK in Python, over each way and of each version, that does as it is told."""

import asyncio
import sys

import uvicorn
from a2a.helpers.proto_helpers import (
    new_data_part,
    new_message,
    new_raw_part,
    new_task_from_user_message,
    new_text_message,
    new_text_part,
    new_url_part,
)
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    TaskState,
)
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


class Scripted(AgentExecutor):
    def __init__(self):
        self.cancelled = []
        self.asked = {}

    async def execute(self, context, queue):
        text = context.get_user_input()
        if text == 'hello':
            await queue.enqueue_event(new_text_message('Hello yourself.'))
            return
        task = context.current_task
        if not task:
            task = new_task_from_user_message(context.message)
            await queue.enqueue_event(task)
        updater = TaskUpdater(queue, task.id, task.context_id)
        await getattr(self, self.asked.pop(task.id, text.split(':')[0]))(updater, text)

    async def say(self, updater, text):
        say = lambda words: updater.new_agent_message([new_text_part(words)])
        await updater.start_work(say('thinking'))
        await asyncio.sleep(0.1)
        await updater.start_work(say('writing'))
        await asyncio.sleep(0.1)
        for index, piece in enumerate(['Once upon', ' a ti', 'me.']):
            await updater.add_artifact(
                [new_text_part(piece)], artifact_id='tale', name='tale', append=index > 0
            )
        await updater.complete()

    async def parts(self, updater, text):
        await updater.add_artifact(
            [
                new_data_part([1, {'two': [2]}, 'three']),
                new_raw_part(b'\x89PNG', media_type='image/png', filename='a.png'),
                new_url_part('https://example.com/a.pdf', media_type='application/pdf'),
            ],
            name='things',
        )
        await updater.complete()

    async def slow(self, updater, text):
        await updater.start_work()
        await asyncio.sleep(30)
        await updater.complete()

    async def fail(self, updater, text):
        await updater.failed(updater.new_agent_message([new_text_part('The oven is broken.')]))

    async def reject(self, updater, text):
        await updater.reject(updater.new_agent_message([new_text_part('Not on a Friday.')]))

    async def ask(self, updater, text):
        self.asked[updater.task_id] = 'colour'
        await updater.requires_input(updater.new_agent_message([new_text_part('Which colour?')]))

    async def colour(self, updater, text):
        await updater.add_artifact([new_text_part('It is ' + text + '.')])
        await updater.complete()

    async def enter(self, updater, text):
        self.asked[updater.task_id] = 'colour'
        words = [new_text_part('Sign in first.'), new_url_part('https://login.example/x')]
        await updater.requires_auth(updater.new_agent_message(words))

    async def count(self, updater, text):
        await updater.complete(updater.new_agent_message([new_text_part(updater.context_id)]))

    async def cancel(self, context, queue):
        self.cancelled.append(context.task_id)
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def card(base, interfaces):
    return AgentCard(
        name='Scripted Agent',
        description='Does as it is told.',
        version='1.2.3',
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain', 'application/json'],
        default_output_modes=['text/plain'],
        skills=[
            AgentSkill(id='tell', name='Tell', description='Tells a tale.', tags=['tale']),
            AgentSkill(id='draw/it', name='Draw', description='Draws.', examples=['Draw me']),
        ],
    )


def old_card(base, url, transport):
    return {
        'protocolVersion': '0.3.0',
        'name': 'Scripted Agent',
        'description': 'Does as it is told.',
        'version': '1.2.3',
        'url': url,
        'preferredTransport': transport,
        'capabilities': {'streaming': True},
        'defaultInputModes': ['text/plain'],
        'defaultOutputModes': ['text/plain'],
        'skills': [],
    }


def main(port):
    base = f'http://127.0.0.1:{port}'
    rpc = AgentInterface(url=base + '/rpc', protocol_binding='JSONRPC', protocol_version='1.0')
    rest = AgentInterface(url=base + '/rest', protocol_binding='HTTP+JSON', protocol_version='1.0')
    executor = Scripted()
    handler = DefaultRequestHandler(
        agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card(base, [rpc, rest])
    )

    async def cancelled(request):
        return JSONResponse(executor.cancelled)

    def old(path, url, transport):
        async def answer(request):
            return JSONResponse(old_card(base, base + url, transport))

        return Route(path, answer)

    routes = [
        *create_agent_card_routes(card(base, [rpc, rest])),
        *create_agent_card_routes(card(base, [rpc]), card_url='/JSONRPC/1.0'),
        *create_agent_card_routes(card(base, [rest]), card_url='/HTTP+JSON/1.0'),
        old('/JSONRPC/0.3', '/rpc', 'JSONRPC'),
        old('/HTTP+JSON/0.3', '/rest', 'HTTP+JSON'),
        Route('/cancelled', cancelled),
        *create_jsonrpc_routes(handler, '/rpc', enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix='/rest', enable_v0_3_compat=True),
    ]
    uvicorn.run(Starlette(routes=routes), host='127.0.0.1', port=port, log_level='warning')


main(int(sys.argv[1]))

"""An agent of the SDK in Python that knows the messages of the conformance suite: acts_agent.py PORT"""

import asyncio
import sys

import uvicorn
from a2a.helpers.proto_helpers import (
    new_data_part,
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
from a2a.server.tasks import (
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

ARTIFACTS = {
    'tck-artifact-data': lambda: new_data_part({'number': 7}),
    'tck-artifact-file': lambda: new_raw_part(b'text', media_type='text/plain', filename='a.txt'),
    'tck-artifact-file-url': lambda: new_url_part(
        'https://example.com/a.pdf', media_type='application/pdf', filename='a.pdf'
    ),
}


class Scripted(AgentExecutor):
    async def execute(self, context, queue):
        text = context.get_user_input()
        word = text.split(' ')[0]
        if word == 'tck-message-response':
            await queue.enqueue_event(new_text_message('A message.'))
            return
        task = context.current_task
        is_open = task is not None
        if not is_open:
            task = new_task_from_user_message(context.message)
            await queue.enqueue_event(task)
        updater = TaskUpdater(queue, task.id, task.context_id)
        say = lambda words: updater.new_agent_message([new_text_part(words)])
        if word == 'tck-multi-turn' or (is_open and text != 'done'):
            await updater.requires_input(say('More?'))
            return
        await updater.start_work()
        if word == 'tck-task-failure':
            await updater.failed(say('As it was told.'))
            return
        if word == 'tck-auth-required':
            await updater.requires_auth(say('Sign in first.'))
            return
        if word in ('tck-long-running', 'tck-cancel'):
            await asyncio.sleep(1.5)
        if word == 'tck-stream-chunked':
            for index, piece in enumerate(['One, ', 'two, ', 'three.']):
                await updater.add_artifact(
                    [new_text_part(piece)], artifact_id='chunks', append=index > 0
                )
        else:
            part = ARTIFACTS.get(word, lambda: new_text_part('It is done.'))
            await updater.add_artifact([part()], name='result')
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def main(port):
    base = f'http://127.0.0.1:{port}'
    interface = lambda path, binding: AgentInterface(
        url=base + path, protocol_binding=binding, protocol_version='1.0'
    )
    card = AgentCard(
        name='Scripted Agent',
        description='Does as the suite wants.',
        version='1.0.0',
        supported_interfaces=[interface('/rpc', 'JSONRPC'), interface('/rest', 'HTTP+JSON')],
        capabilities=AgentCapabilities(
            streaming=True, push_notifications=True, extended_agent_card=False
        ),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='suite', name='Suite', description='Plays.', tags=['suite'])],
    )
    handler = DefaultRequestHandler(
        agent_executor=Scripted(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=InMemoryPushNotificationConfigStore(),
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, '/rpc'),
        *create_rest_routes(handler, path_prefix='/rest'),
    ]
    uvicorn.run(Starlette(routes=routes), host='127.0.0.1', port=port, log_level='warning')


main(int(sys.argv[1]))

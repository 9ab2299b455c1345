"""An agent of the SDK that asks the agent behind it what it is asked, with the same metadata."""

import sys

import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
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

port, behind, token = sys.argv[1:]
base = f'http://127.0.0.1:{port}'


class Forwards(AgentExecutor):
    async def execute(self, context, queue):
        said = Message(
            message_id='f-' + context.message.message_id, role=Role.ROLE_USER,
            parts=[Part(text=context.get_user_input())], metadata=context.message.metadata,
        )
        headers = {'Authorization': 'Bearer ' + token}
        text = ''
        async with httpx.AsyncClient(headers=headers, timeout=120) as http:
            card = await A2ACardResolver(http, behind).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
            async for event in client.send_message(SendMessageRequest(message=said)):
                if event.WhichOneof('payload') == 'task':
                    for artifact in event.task.artifacts:
                        text = ''.join(part.text for part in artifact.parts)
        await queue.enqueue_event(new_text_message(text or 'Nothing was said.'))

    async def cancel(self, context, queue):
        pass


card = AgentCard(
    name='Forwards', description='Asks the next one.', version='1.0.0',
    supported_interfaces=[
        AgentInterface(url=base, protocol_binding='JSONRPC', protocol_version='1.0')
    ],
    capabilities=AgentCapabilities(streaming=False),
    default_input_modes=['text/plain'], default_output_modes=['text/plain'],
    skills=[AgentSkill(id='ask', name='Ask', description='Asks.', tags=['ask'])],
)
handler = DefaultRequestHandler(
    agent_executor=Forwards(), task_store=InMemoryTaskStore(), agent_card=card
)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, '/')])
uvicorn.run(app, host='127.0.0.1', port=int(port), log_level='error')

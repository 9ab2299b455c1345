"""The client of the SDK in Python, which tells what it reads: acts_client.py ADDRESS OPERATION"""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
)
from google.protobuf.json_format import MessageToDict


async def ask(base, operation):
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        if operation == 'get_agent_card':
            return card
        config = ClientConfig(
            httpx_client=http, streaming=False, supported_protocol_bindings=['JSONRPC']
        )
        client = ClientFactory(config).create(card)
        if operation == 'get_task':
            return await client.get_task(GetTaskRequest(id='t'))
        if operation == 'get_extended_agent_card':
            return await client.get_extended_agent_card(GetExtendedAgentCardRequest())
        said = Message(message_id='m', role=Role.ROLE_USER, parts=[Part(text='Hello.')])
        async for event in client.send_message(SendMessageRequest(message=said)):
            return event


async def main():
    try:
        told = MessageToDict(await ask(*sys.argv[1:]))
    except Exception as error:
        code = {'TaskNotFoundError': -32001}.get(type(error).__name__)
        told = {'error': {'code': code, 'message': str(error), 'kind': type(error).__name__}}
    print(json.dumps(told))


asyncio.run(main())

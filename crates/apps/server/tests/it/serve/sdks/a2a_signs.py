"""Signatures of cards by the SDK: `verify` tells what it makes of one, `serve` shows one."""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver
from a2a.utils.signing import create_agent_card_signer, create_signature_verifier
from jwt import PyJWK


async def verify(base, path, token, key):
    verifier = create_signature_verifier(
        lambda kid, jku: PyJWK.from_dict(json.loads(key), algorithm='ES256'), ['ES256']
    )
    headers = {'Authorization': 'Bearer ' + token}
    async with httpx.AsyncClient(headers=headers) as http:
        try:
            await A2ACardResolver(http, base, path).get_agent_card(signature_verifier=verifier)
        except Exception as error:  # Its name is what is told.
            print(type(error).__name__)
        else:
            print('verified')


def serve(port, key):
    import uvicorn
    from a2a.server.routes import create_agent_card_routes
    from a2a.types.a2a_pb2 import (
        AgentCapabilities,
        AgentCard,
        AgentExtension,
        AgentInterface,
        AgentSkill,
        HTTPAuthSecurityScheme,
        SecurityRequirement,
        SecurityScheme,
        StringList,
    )
    from google.protobuf.struct_pb2 import Struct
    from starlette.applications import Starlette

    params = Struct()
    params.update({'ä': [1, 2.5, 1e30, '', None, {'deep': {}}], 'empty': ''})
    extension = AgentExtension(uri='urn:x', params=params)
    bearer = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme='bearer'))
    card = AgentCard(
        name='Scribe', description='Writes – on paper.', version='1.0.0',
        supported_interfaces=[
            AgentInterface(
                url=f'http://127.0.0.1:{port}', protocol_binding='JSONRPC', protocol_version='1.0'
            )
        ],
        capabilities=AgentCapabilities(streaming=False, extensions=[extension]),
        security_schemes={'bearer': bearer},
        security_requirements=[SecurityRequirement(schemes={'bearer': StringList(list=['a'])})],
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
        skills=[AgentSkill(id='write', name='Write', description='Writes.', tags=['write'])],
    )
    with open(key, encoding='utf-8') as file:
        head = {'alg': 'ES256', 'kid': 'k', 'typ': 'JOSE', 'jku': None}
        card = create_agent_card_signer(file.read(), head)(card)
    app = Starlette(routes=create_agent_card_routes(card))
    uvicorn.run(app, host='127.0.0.1', port=int(port), log_level='error')


what, *words = sys.argv[1:]
if what == 'verify':
    asyncio.run(verify(*words))
else:
    serve(*words)

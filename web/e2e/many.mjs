// A server of MCP with five thousand tools.
import { createInterface } from 'node:readline';

const VERBS = ['list', 'get', 'create', 'update', 'delete', 'search', 'export', 'merge', 'archive', 'assign'];
const NOUNS = ['issue', 'event', 'mail', 'invoice', 'customer', 'branch', 'comment', 'deployment', 'label', 'report'];
const tools = Array.from({ length: 5_000 }, (_, at) => {
  const [verb, noun] = [VERBS[at % 10], NOUNS[Math.floor(at / 10) % 10]];
  return {
    name: `${verb}_${noun}_${at}`,
    description: `Does ${verb} with one ${noun}.`,
    inputSchema: { type: 'object', properties: { id: { type: 'string', description: `Which ${noun}` } }, required: ['id'] },
    annotations: { readOnlyHint: ['list', 'get', 'search', 'export'].includes(verb), destructiveHint: ['delete', 'merge'].includes(verb) },
  };
});
const say = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools } });
  else if (method === 'ping') say({ id, result: {} });
  else say({ id, error: { code: -32601, message: 'no such method' } });
});

// A server of MCP whose author means harm: what it says of its tools must come out as text.
import { createInterface } from 'node:readline';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>[x](javascript:alert(3)) {{7*7}} ${7*7}';
const description = `${XSS} \u202Egnp.exe\u202C a\u200Db ${'long '.repeat(2000)}\u{1F600} \u0645\u0631\u062D\u0628\u0627`;
const tools = [
  {
    name: 'hostile',
    title: XSS,
    description,
    inputSchema: {
      type: 'object',
      properties: {
        [XSS]: { type: 'string', description: XSS },
        choice: { enum: [XSS, '<b>bold</b>'] },
        loop: { type: 'object', properties: { again: { $ref: '#/properties/loop' } } },
        tree: { type: 'object', properties: { root: { $ref: '#' } } },
        pattern: { type: 'string', pattern: '^(a+)+$' },
        text: { type: 'string', title: XSS, default: XSS },
      },
    },
    annotations: { readOnlyHint: true },
  },
  { name: 'lost', description: 'Ends before it answers.', inputSchema: { type: 'object' } },
  { name: 'slow', description: 'Never answers.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  {
    name: 'wide',
    description: 'Has many arguments.',
    inputSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`field_${at}`, { type: 'string' }])) },
    annotations: { readOnlyHint: true },
  },
];
const say = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: XSS, version: '1' } };
    say({ id, result });
  } else if (method === 'tools/list') say({ id, result: { tools } });
  else if (method === 'tools/call' && params.name === 'lost') process.exit(1);
  else if (method === 'tools/call' && params.name === 'slow') return;
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: XSS }] } });
  else if (method === 'ping') say({ id, result: {} });
  else say({ id, error: { code: -32601, message: 'no such method' } });
});

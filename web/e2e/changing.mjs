// A server of MCP that lists what a file says now, and talks to its standard error.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const say = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
process.stderr.write(`started ${XSS} \u202Egnp.exe\n`);
createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: XSS, version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: JSON.parse(readFileSync('tools.json', 'utf8')) } });
  else if (method === 'tools/call') {
    process.stderr.write('called\n');
    say({ id, result: { content: [{ type: 'text', text: 'done' }] } });
  } else if (method === 'ping') say({ id, result: {} });
  else say({ id, error: { code: -32601, message: 'no such method' } });
});

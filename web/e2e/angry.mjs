// A server of MCP that refuses everybody, with words that mean harm.
import { createInterface } from 'node:readline';

const message = '"><img src=x onerror=alert(1)><script>alert(2)</script> \u202Egnp.exe {{7*7}}';
createInterface({ input: process.stdin }).on('line', line => {
  const { id } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } }) + '\n');
});

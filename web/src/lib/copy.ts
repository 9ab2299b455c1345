// A call as others write it. Texts of tools are quoted, so that no shell runs any of them; the token
// is never in them.

const body = (name: string, args: unknown) => JSON.stringify({ calls: [{ name, arguments: args }] });
const single = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** JSON is a literal of Python too, but for three words. */
function python(value: unknown, indent = ''): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map(item => python(item, indent)).join(', ')}]`;
  if (typeof value === 'object') return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${python(item, indent)}`).join(', ')}}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, letter => '\\u' + letter.charCodeAt(0).toString(16).padStart(4, '0'));
}

export function curl(base: string, name: string, args: unknown): string {
  return `curl -H "Authorization: Bearer $(toolcrib token)" -H 'Content-Type: application/json' \\\n  -d ${single(body(name, args))} ${base}v1/calls`;
}

export function cli(name: string, args: unknown): string {
  return `toolcrib call ${single(name)} ${single(JSON.stringify(args))}`;
}

export function script(base: string, name: string, args: unknown): string {
  return [
    'import json, subprocess, urllib.request',
    'token = subprocess.run(["toolcrib", "token"], capture_output=True, text=True, check=True).stdout.strip()',
    `body = json.dumps({"calls": [{"name": ${python(name)}, "arguments": ${python(args)}}]}).encode()`,
    `request = urllib.request.Request(${python(base + 'v1/calls')}, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})`,
    'print(json.load(urllib.request.urlopen(request)))',
  ].join('\n');
}

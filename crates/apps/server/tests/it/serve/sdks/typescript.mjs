// The SDK of TypeScript as a client, its second generation or, in the era `first`, its first one.
// Says on one line what it saw.
const [url, token, era] = process.argv.slice(2);
const first = era === "first";
const { Client } = first
  ? await import("@modelcontextprotocol/sdk/client/index.js")
  : await import("@modelcontextprotocol/client");
const { StreamableHTTPClientTransport } = first
  ? await import("@modelcontextprotocol/sdk/client/streamableHttp.js")
  : await import("@modelcontextprotocol/client");
const asking = first
  ? (await import("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema
  : "elicitation/create";

const client = new Client(
  { name: "typescript", version: "1" },
  {
    capabilities: { elicitation: { form: {} } },
    ...(first ? {} : { versionNegotiation: { mode: era } }),
  },
);
const asked = [];
client.setRequestHandler(asking, async (request) => {
  asked.push(request.params.message);
  // The first call is approved, and the second one is not.
  if (asked.length > 1) return { action: "decline" };
  const fields = Object.entries(request.params.requestedSchema.properties);
  const content = Object.fromEntries(
    fields.map(([name, kind]) => [name, kind.type === "boolean" ? true : "x"]),
  );
  return { action: "accept", content };
});
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
await client.connect(transport);

const call = (name, given = {}, options = undefined) => {
  const params = { name, arguments: given };
  return first ? client.callTool(params, undefined, options) : client.callTool(params, options);
};
const names = [];
let cursor;
do {
  const page = await client.listTools(cursor ? { cursor } : {});
  names.push(...page.tools.map((tool) => tool.name));
  cursor = page.nextCursor;
} while (cursor);
const weather = await call("everything__get-structured-content", { location: "New York" });
const picture = await call("everything__get-tiny-image");
const steps = [];
await call(
  "everything__trigger-long-running-operation",
  { duration: 0.3, steps: 3 },
  { onprogress: (progress) => steps.push(progress.progress) },
);
const failed = await call("files__read_text_file", { path: "nowhere.txt" });
const written = await call("files__write_file", { path: `${era}.txt`, content: "written" });
const kept = await call("files__write_file", { path: `${era}-2.txt`, content: "written" });
// Its server runs it as a task alone, which asks in the middle.
const research = await call("everything__simulate-research-query", {
  topic: "python",
  ambiguous: true,
});
const image = picture.content.find((part) => part.type === "image");
const version = first ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
console.log(
  JSON.stringify({
    version,
    tools: names.length,
    structured: weather.structuredContent,
    image: [image.mimeType, Buffer.from(image.data, "base64").subarray(1, 4).toString()],
    steps,
    failed: [failed.isError, failed.content[0].text],
    asked: asked.slice(0, 2),
    written: [written.isError ?? false, written.content[0].text],
    kept: [kept.isError, kept.content[0].text],
    research: [asked.slice(2), research.content[0].text.split("\n")[0]],
  }),
);
await client.close();

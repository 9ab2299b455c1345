// A conversation of the client of the SDK with an agent; the last line tells what came of it.
import { randomUUID } from "node:crypto";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { Role, TaskState } from "@a2a-js/sdk";

const [url, token, way, streaming] = process.argv.slice(2);
const [binding, version] = way.split("/");
const base = new URL(url).origin;
const legacyCompat = { enabled: version === "0.3" };
const fetchImpl = (place, options = {}) => {
  const headers = new Headers(options.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(place, { ...options, headers });
};

function message(text, taskId = "") {
  const said = {
    messageId: randomUUID(), contextId: "", taskId, role: Role.ROLE_USER, metadata: undefined,
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
    extensions: [], referenceTaskIds: [],
  };
  return { tenant: "", message: said, configuration: undefined, metadata: undefined };
}

const textOf = (parts) => parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");

/** The task as its events tell it. */
class Seen {
  text = "";
  take({ $case, value }) {
    if ($case === "task") {
      [this.id, this.status] = [value.id, value.status];
      for (const artifact of value.artifacts) this.text = textOf(artifact.parts);
    } else if ($case === "statusUpdate") {
      [this.id, this.status] = [value.taskId, value.status];
    } else if ($case === "artifactUpdate") {
      this.text = (value.append ? this.text : "") + textOf(value.artifact.parts);
    }
  }
  get state() { return TaskState[this.status.state]; }
  get tool() {
    const data = this.status.message.parts.find(({ content }) => content?.$case === "data");
    return data?.content.value.tool;
  }
}

async function send(client, request) {
  const seen = new Seen();
  if (streaming === "stream") {
    for await (const event of client.sendMessageStream(request)) seen.take(event.payload);
  } else {
    seen.take({ $case: "task", value: await client.sendMessage(request) });
  }
  return seen;
}

const card = await new DefaultAgentCardResolver({ fetchImpl, legacyCompat }).resolve(base);
// The card offers each version: the one that is meant is left.
card.supportedInterfaces = card.supportedInterfaces.filter((it) => it.protocolVersion === version);
const transports = [JsonRpcTransportFactory, RestTransportFactory]
  .map((Factory) => new Factory({ fetchImpl, legacyCompat }));
const client = await new ClientFactory({ transports, preferredTransports: [binding] }).createFromAgentCard(card);
const asked = await send(client, message("Water the plants."));
const tool = asked.tool;
const waits = asked.state;
const ended = await send(client, message("yes", asked.id));
const found = await client.getTask({ tenant: "", id: asked.id });
let missing;
try {
  await client.getTask({ tenant: "", id: "nothing" });
} catch (error) {
  missing = error.constructor.name;
}
console.log(JSON.stringify({
  card: card.name, version: client.protocolVersion, asked: waits, tool, end: ended.state,
  text: ended.text, looked_up: TaskState[found.status.state], missing,
}));

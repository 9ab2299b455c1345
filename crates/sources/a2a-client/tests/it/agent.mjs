// An agent of the SDK in JavaScript, over each way and of each version, that does as it is told.
import express from "express";
import { Role, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";

const port = Number(process.argv[2]);
const base = `http://127.0.0.1:${port}`;

const part = (text) => ({ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" });

class Scripted {
  asked = new Set();

  async execute({ taskId, contextId, userMessage, task }, bus) {
    const says = (text) => ({
      messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts: [part(text)],
      metadata: undefined, extensions: [], referenceTaskIds: [],
    });
    const status = (state, text) => ({
      state, message: text === undefined ? undefined : says(text), timestamp: new Date().toISOString(),
    });
    const tell = (state, text) => bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }),
    );
    const artifact = (text, append, lastChunk) => bus.publish(AgentEvent.artifactUpdate({
      taskId, contextId, append, lastChunk, metadata: undefined,
      artifact: {
        artifactId: "tale", name: "tale", description: "", parts: [part(text)], metadata: undefined,
        extensions: [],
      },
    }));
    const text = userMessage.parts.map(({ content }) => content?.value).join("");
    if (text === "hello") {
      bus.publish(AgentEvent.message(says("Hello yourself.")));
      return bus.finished();
    }
    bus.publish(AgentEvent.task(task ?? {
      id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [],
      history: [userMessage], metadata: undefined,
    }));
    if (text === "ask") {
      this.asked.add(taskId);
      tell(TaskState.TASK_STATE_INPUT_REQUIRED, "Which colour?");
    } else if (text === "fail") {
      tell(TaskState.TASK_STATE_FAILED, "The oven is broken.");
    } else if (this.asked.delete(taskId)) {
      artifact(`It is ${text}.`, false, true);
      tell(TaskState.TASK_STATE_COMPLETED);
    } else {
      tell(TaskState.TASK_STATE_WORKING, "thinking");
      ["Once upon", " a ti", "me."].forEach((piece, at) => artifact(piece, at > 0, at === 2));
      tell(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  }

  async cancelTask() {}
}

const legacyCompat = { enabled: true };
const places = { JSONRPC: "/rpc", "HTTP+JSON": "/rest" };
const ways = Object.keys(places).flatMap((binding) => ["1.0", "0.3"].map((version) => [binding, version]));
const interfaces = ways.map(([protocolBinding, protocolVersion]) => ({
  url: base + places[protocolBinding], protocolBinding, protocolVersion, tenant: "",
}));
const card = (supportedInterfaces) => ({
  name: "Scripted Agent", description: "Does as it is told.", version: "1.2.3", supportedInterfaces,
  provider: undefined, documentationUrl: undefined, iconUrl: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {}, securityRequirements: [], signatures: [],
  defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
  skills: [{
    id: "tell", name: "Tell", description: "Tells a tale.", tags: ["tale"], examples: [], inputModes: [],
    outputModes: [], securityRequirements: [],
  }],
});
const requestHandler = new DefaultRequestHandler(card(interfaces), new InMemoryTaskStore(), new Scripted());
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
const app = express();
ways.forEach(([binding, version], at) => {
  const place = `/${binding.replace("+", "\\+")}/${version}`;
  app.get(new RegExp(`^${place}$`), (_, answer) => answer.json({ ...card([interfaces[at]]), ...(
    version === "1.0" ? {} : {
      supportedInterfaces: undefined, protocolVersion: "0.3.0", url: interfaces[at].url, preferredTransport: binding,
      capabilities: { streaming: true },
    }
  ) }));
});
app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
app.use("/rpc", jsonRpcHandler(options));
app.use("/rest", restHandler(options));
app.listen(port, "127.0.0.1");

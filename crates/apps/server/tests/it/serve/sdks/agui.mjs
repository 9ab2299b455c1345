// Judges recorded streams as the client of the protocol does, and holds a conversation with it.
import { readFileSync } from "node:fs";
import { from, lastValueFrom, toArray } from "rxjs";
import { HttpAgent, buildResumeArray, verifyEvents } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";

const [url, token, what, ...words] = process.argv.slice(2);

async function judged(path) {
  const lines = readFileSync(path, "utf8").split("\n").filter((line) => line.startsWith("data: "));
  const events = lines.map((line) => EventSchemas.parse(JSON.parse(line.slice(6))));
  const seen = await lastValueFrom(from(events).pipe(verifyEvents(false), toArray()));
  return seen.length;
}

async function talked() {
  const agent = new HttpAgent({
    url: `${url}/agui`, threadId: "window", headers: { Authorization: `Bearer ${token}` },
  });
  const outcomes = [];
  const subscriber = {
    onRunFinishedEvent: ({ event }) => { outcomes.push(event.outcome.type); },
    onRunErrorEvent: ({ event }) => { outcomes.push(event.code); },
  };
  const run = (more) => agent.runAgent({ ...more }, subscriber);
  const color = { name: "paint", description: "Paints the page.", parameters: { type: "object" } };
  agent.addMessage({ id: "u1", role: "user", content: "Water the plants." });
  await run({ tools: [color] });
  const pending = agent.pendingInterrupts;
  const answers = Object.fromEntries(
    pending.map(({ id }) => [id, { status: "resolved", payload: { approved: true } }]),
  );
  await run({ tools: [color], resume: buildResumeArray(pending, answers) });
  const call = agent.messages.at(-1).toolCalls.at(-1);
  agent.addMessage({ id: "t1", role: "tool", toolCallId: call.id, content: "painted" });
  await run({ tools: [color] });
  const messages = agent.messages.map((message) => [
    message.role, message.toolCalls?.map((call) => call.function.name) ?? message.content,
  ]);
  return { outcomes, messages };
}

const told = what === "judge" ? await judged(words[0]) : await talked();
console.log(JSON.stringify(told));

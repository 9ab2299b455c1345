// Clients of agents, each by the ways that it has. Says on one line what each was answered.

import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenResponses } from '@ai-sdk/open-responses';
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  tool as agentTool,
} from '@openai/agents';
import { generateText, isStepCount, streamText, tool as sdkTool } from 'ai';
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { z } from 'zod';

const [baseURL, apiKey] = process.argv.slice(2);
const model = 'assistant';
const COUNT = 'Count `a b`.';
const WEATHER = 'What is the weather?';
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const own = { name: 'get_weather', description: 'Tells the weather.' };
const client = new OpenAI({ baseURL, apiKey });
const seen = {};

const note = (way, text, kinds) => {
  seen[way] = kinds ? [text, kinds] : [text];
};
const kindsOf = (items) => items.map((item) => item.type);

async function openaiResponses() {
  const { responses } = client;
  const models = [];
  for await (const one of client.models.list()) models.push(one.id);
  assert.deepEqual(models, [model]);

  const created = await responses.create({ model, input: COUNT });
  note('openai responses', created.output_text, kindsOf(created.output));

  let [text, last] = ['', undefined];
  for await (const event of await responses.create({ model, input: COUNT, stream: true })) {
    text += event.type === 'response.output_text.delta' ? event.delta : '';
    last = event;
  }
  assert.equal(last.type, 'response.completed');
  note('openai responses stream', text, kindsOf(last.response.output));

  const helper = responses.stream({ model, input: COUNT });
  for await (const _ of helper);
  const final = await helper.finalResponse();
  note('openai responses helper', final.output_text, kindsOf(final.output));

  const tools = [{ type: 'function', ...own, strict: true, parameters }];
  const first = await responses.create({ model, input: WEATHER, tools });
  const [call] = first.output.filter((item) => item.type === 'function_call');
  assert.deepEqual(JSON.parse(call.arguments), { city: 'Paris' });
  const second = await responses.create({
    model,
    tools,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: call.call_id, output: '11 degrees' }],
  });
  note('openai responses weather', second.output_text, kindsOf(second.output));
}

async function openaiBackground() {
  const { responses } = client;
  const begun = await responses.create({ model, input: COUNT, background: true });
  // Follows it to its end, and then reads again what comes behind one event of it.
  const whole = [];
  for await (const event of await responses.retrieve(begun.id, { stream: true })) {
    whole.push(event);
  }
  const rest = [];
  const after = { stream: true, starting_after: 3 };
  for await (const event of await responses.retrieve(begun.id, after)) rest.push(event);
  assert.deepEqual(rest, whole.slice(4));
  const ended = await responses.retrieve(begun.id);
  assert.equal(ended.status, 'completed');
  assert.equal((await responses.inputItems.list(begun.id)).data.length, 1);
  note('openai responses background', ended.output_text, kindsOf(ended.output));
  await responses.delete(begun.id);
  await assert.rejects(responses.retrieve(begun.id), OpenAI.NotFoundError);
}

async function openaiChat() {
  const { completions } = client.chat;
  const asked = [{ role: 'user', content: COUNT }];
  const done = await completions.create({ model, messages: asked });
  note('openai chat', done.choices[0].message.content);

  let [text, usage] = ['', undefined];
  const options = { stream: true, stream_options: { include_usage: true } };
  for await (const chunk of await completions.create({ model, messages: asked, ...options })) {
    text += chunk.choices[0]?.delta.content ?? '';
    usage = chunk.usage ?? usage;
  }
  assert.equal(usage.total_tokens, 220);
  note('openai chat stream', text);

  const tools = [{ type: 'function', function: { ...own, strict: true, parameters } }];
  const messages = [{ role: 'user', content: WEATHER }];
  const helper = completions.stream({ model, messages, tools });
  for await (const _ of helper);
  const said = await helper.finalMessage();
  const [call] = said.tool_calls;
  assert.deepEqual(JSON.parse(call.function.arguments), { city: 'Paris' });
  messages.push(said, { role: 'tool', tool_call_id: call.id, content: '11 degrees' });
  const answered = await completions.create({ model, messages, tools });
  note('openai chat weather', answered.choices[0].message.content);
}

async function agentsWays(name, kind) {
  const getWeather = agentTool({
    ...own,
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `11 degrees in ${city}`,
  });
  const agent = new Agent({
    name: 'x',
    instructions: 'Be brief.',
    model: new kind(client, model),
    tools: [getWeather],
  });
  const runner = new Runner({ tracingDisabled: true });
  const kinds = (run) => run.newItems.map((item) => item.type);
  const first = await runner.run(agent, COUNT);
  note(name, first.finalOutput, kinds(first));
  for (const [way, asked] of [['stream', COUNT], ['weather stream', WEATHER]]) {
    const streamed = await runner.run(agent, asked, { stream: true });
    for await (const _ of streamed);
    await streamed.completed;
    note(`${name} ${way}`, streamed.finalOutput, kinds(streamed));
  }
  const weather = await runner.run(agent, WEATHER);
  note(`${name} weather`, weather.finalOutput, kinds(weather));
  // The history goes back as the client keeps it.
  for (const [way, before] of [['second turn', first], ['turn after weather', weather]]) {
    const again = await runner.run(agent, [...before.history, { role: 'user', content: COUNT }]);
    note(`${name} ${way}`, again.finalOutput, kinds(again));
  }
}

async function vercelWays(name, provided) {
  const tools = {
    get_weather: sdkTool({
      description: own.description,
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `11 degrees in ${city}`,
    }),
  };
  const common = { model: provided, tools, stopWhen: isStepCount(3), maxRetries: 0 };
  const kinds = (steps) => steps.flatMap((step) => kindsOf(step.content));
  const first = await generateText({ ...common, prompt: COUNT });
  note(name, first.text, kinds(first.steps));
  for (const [way, prompt] of [['stream', COUNT], ['weather stream', WEATHER]]) {
    const failures = [];
    const onError = ({ error }) => failures.push(error);
    const streamed = streamText({ ...common, prompt, onError });
    let text = '';
    for await (const delta of streamed.textStream) text += delta;
    assert.deepEqual(failures, []);
    note(`${name} ${way}`, text, kinds(await streamed.steps));
  }
  const weather = await generateText({ ...common, prompt: WEATHER });
  note(`${name} weather`, weather.text, kinds(weather.steps));
  for (const [way, asked, before] of [
    ['second turn', COUNT, first],
    ['turn after weather', WEATHER, weather],
  ]) {
    const messages = [
      { role: 'user', content: asked },
      ...before.responseMessages ?? before.response.messages,
      { role: 'user', content: COUNT },
    ];
    const again = await generateText({ ...common, messages });
    note(`${name} ${way}`, again.text, kinds(again.steps));
  }
}

await openaiResponses();
await openaiBackground();
await openaiChat();
await agentsWays('agents responses', OpenAIResponsesModel);
await agentsWays('agents chat', OpenAIChatCompletionsModel);
const openai = createOpenAI({ baseURL, apiKey });
await vercelWays('vercel openai', openai.responses(model));
await vercelWays('vercel openai chat', openai.chat(model));
const open = createOpenResponses({ name: 'open', url: `${baseURL}/responses`, apiKey });
await vercelWays('vercel open-responses', open(model));
const compatible = createOpenAICompatible({ name: 'compatible', baseURL, apiKey });
await vercelWays('vercel compatible', compatible(model));
console.log(JSON.stringify(seen));

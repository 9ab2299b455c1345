// Has an agent work in the background, or with the id of an answer, follows that to its end.

import OpenAI from 'openai';

const [baseURL, apiKey, id] = process.argv.slice(2);
const { responses } = new OpenAI({ baseURL, apiKey });
if (id === undefined) {
  const input = 'Move the budget review to 3pm, and then delete it.';
  const begun = await responses.create({ model: 'assistant', input, background: true });
  console.log(JSON.stringify(begun.id));
} else {
  let last;
  for await (const event of await responses.retrieve(id, { stream: true })) last = event;
  const ended = await responses.retrieve(id);
  const calls = ended.output.filter((item) => item.type === 'mcp_call');
  console.log(JSON.stringify({
    last: last.type,
    calls: calls.map((call) => [call.name, call.status]),
    text: ended.output_text,
  }));
}

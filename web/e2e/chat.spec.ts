import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { accessible, expect, picture, test } from './guard';
import { ScriptedModel, type ScriptedTurn } from './model';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script> [x](javascript:alert(3)) ![p](https://evil.example/p.png) \u202Egnp.exe {{7*7}}';
const MARKED = `# What I found

It is **six times seven**, so \`6*7\` is *known*:

- one
  - two with <b>no tag</b>
- three

| what | how many |
|---|---|
| sums | 1 |

\`\`\`
let x = 1;
\`\`\`

> quoted

See [here](https://evil.example/) and ![p](https://evil.example/p.png).`;
const crib = (url: string, more = '') => `
allow = ["*"]
ask = ["uuid_new"]
${more}
[model]
url = "${url}"
name = "m"
[store]
url = "sqlite://crib.db"
[[source]]
id = "basics"
prefix = ""
basics = true
[[source]]
id = "hostile"
mcp = { command = ["node", "hostile.mjs"], cwd = "." }
`;
const calls = (name: string, given: unknown) => [{ name, arguments: given }];

let server: Server;
let model: ScriptedModel;
async function start(turns: (ScriptedTurn | ScriptedTurn['says'])[], more = ''): Promise<void> {
  model = await ScriptedModel.start(turns);
  server = await Server.start(crib(model.url, more), { 'hostile.mjs': readFileSync(join(import.meta.dirname, 'hostile.mjs'), 'utf8') });
}
test.afterEach(() => {
  server?.stop();
  model?.stop();
});

async function open(page: Page, at = 'chat/new'): Promise<void> {
  await page.goto(server.link());
  await page.goto(`${server.url}/#/${at}`);
  await expect(page.getByRole('textbox', { name: 'Message' })).toBeVisible();
}
async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

test('an agent answers word by word, shows its calls, and all of it stands after a reload', async ({ page, isMobile }) => {
  let letGo = () => {};
  const holds = new Promise<void>(done => (letGo = done));
  await start([calls('calculate', { expression: '6*7' }), { says: MARKED, holds }, 'You are welcome.']);
  await open(page);
  await accessible(page);
  await say(page, 'What is six times seven?');
  const answer = page.getByRole('article', { name: 'Answer' });
  // Half of it is there before the other half was said.
  await expect(answer.getByText('six times seven')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await expect(answer.getByText('quoted')).toHaveCount(0);
  letGo();
  await expect(answer.locator('.quote')).toHaveText('quoted');
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
  const call = answer.locator('details');
  await expect(call).toContainText('done');
  await call.locator('summary').click();
  await expect(call.getByRole('region', { name: 'Arguments' })).toContainText('"expression": "6*7"');
  await expect(call.getByRole('region', { name: 'Result' })).toContainText('42');
  await expect(answer.locator('strong')).toHaveText('six times seven');
  await expect(answer.locator('table td')).toHaveText(['sums', '1']);
  await expect(answer.locator('.words li')).toContainText(['one', 'two with <b>no tag</b>', 'three']);
  await expect(answer.locator('.code')).toHaveText('let x = 1;');
  // Neither a link nor a picture is made of what looks like one.
  await expect(answer).toContainText('[here](https://evil.example/) and ![p](https://evil.example/p.png)');
  expect(await answer.locator('a, img, b:not(.child b)').count()).toBe(0);
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `chat-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  await page.reload();
  await expect(page.getByRole('article', { name: 'You' })).toContainText('What is six times seven?');
  await expect(answer.locator('.quote')).toHaveText('quoted');
  await say(page, 'Thanks');
  await expect(answer.last()).toContainText('You are welcome.');
  expect(model.asked[2].messages.map((message: { role: string }) => message.role)).toEqual(expect.arrayContaining(['user', 'assistant', 'tool', 'assistant', 'user']));
  await page.goto(server.url + '/#/chat');
  const threads = page.getByRole('navigation', { name: 'Conversations' }).locator('.thread');
  await expect(threads).toHaveCount(1);
  await expect(threads).toContainText('Thanks');
  await accessible(page);
});

test('a call that a rule asks about is armed and approved where it was made, and the agent goes on', async ({ page, isMobile }) => {
  await start([calls('uuid_new', {}), 'It is made.', calls('uuid_new', {}), 'Then not.']);
  await open(page);
  await say(page, 'Make one');
  const ticket = page.getByRole('group', { name: 'Call that waits' });
  await expect(ticket.getByText('uuid_new')).toBeVisible();
  await accessible(page);
  await picture(page, `chat-approval-${isMobile ? 'phone' : 'desk'}`);
  // Letters of a message decide nothing.
  await page.getByRole('textbox', { name: 'Message' }).fill('a');
  await page.keyboard.press('a');
  await expect(ticket.getByText('Press Enter to approve')).toHaveCount(0);
  await expect(async () => {
    await ticket.getByRole('button', { name: 'Approve' }).first().click();
    await expect(ticket.getByText('Press Enter to approve')).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.keyboard.press('Enter');
  const answer = page.getByRole('article', { name: 'Answer' });
  await expect(answer).toContainText('It is made.');
  await expect(ticket).toHaveCount(0);
  await expect(answer.locator('details')).toContainText('done');
  await say(page, 'Another one');
  await expect(async () => {
    await ticket.getByRole('button', { name: 'Deny' }).click();
    await expect(ticket.getByLabel(/^reason/)).toBeVisible({ timeout: 500 });
  }).toPass();
  await ticket.getByLabel(/^reason/).fill('one is enough');
  await ticket.getByRole('button', { name: 'Deny' }).click();
  await expect(answer.last()).toContainText('Then not.');
  await expect(answer.last().locator('details')).toContainText('denied');
  expect(JSON.stringify(model.asked[3].messages)).toContain('one is enough');
});

test('what a model, a tool and a title say in anger is text', async ({ page }) => {
  await start([calls('hostile__hostile', { text: XSS, choice: XSS }), XSS]);
  await open(page);
  await say(page, XSS);
  const answer = page.getByRole('article', { name: 'Answer' });
  await expect(answer.locator('.words')).toContainText('<script>alert(2)</script> [x](javascript:alert(3))');
  await answer.locator('summary').click();
  await expect(answer.getByRole('region', { name: 'Result' })).toContainText('onerror=alert(1)');
  await expect(page.getByRole('article', { name: 'You' })).toContainText('U+202Egnp.exe');
  await page.goto(server.url + '/#/chat');
  await expect(page.locator('.thread')).toContainText('<script>alert(2)</script>');
  expect(await page.locator('main img, main script').count()).toBe(0);
  await accessible(page);
});

test('an agent that works is stopped, and one that fails says why and takes the next message', async ({ page }) => {
  const never = new Promise<void>(() => {});
  await start([{ says: 'I begin to count: one two three', holds: never }, 'Hello again.']);
  await open(page);
  await say(page, 'Count');
  const answer = page.getByRole('article', { name: 'Answer' });
  await expect(answer).toContainText('I begin');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(answer).toContainText('Stopped.');
  await say(page, 'Hello');
  await expect(answer.last()).toContainText('Hello again.');
  model.stop();
  await say(page, 'Are you there?');
  await expect(answer.last().getByRole('alert')).toBeVisible({ timeout: 60_000 });
  await accessible(page);
});

test('a person chooses what is called first and leaves out what is not to be called', async ({ page, isMobile }) => {
  await start([calls('calculate', { expression: '1+1' }), 'Two.', 'Yes.']);
  await open(page);
  await page.getByRole('button', { name: 'Tools' , exact: true }).click();
  const tools = page.getByRole('group', { name: 'Tools of the agent' });
  await tools.getByRole('button', { name: 'Call calculate first' }).click();
  await tools.getByRole('button', { name: 'Leave text_count out' }).click();
  await accessible(page);
  await picture(page, `chat-tools-${isMobile ? 'phone' : 'desk'}`);
  await expect(page.getByRole('button', { name: 'Tools, 1 first, 1 off' })).toBeVisible();
  await say(page, 'Add up');
  const answer = page.getByRole('article', { name: 'Answer' });
  await expect(answer).toContainText('Two.');
  const names = (asked: any) => asked.tools.map((tool: any) => tool.function.name);
  expect(model.asked[0].tool_choice).toEqual({ type: 'function', function: { name: 'calculate' } });
  expect(names(model.asked[0])).not.toContain('text_count');
  // What is off stays off over a reload; what was first was so once.
  await page.reload();
  await expect(page.getByRole('button', { name: 'Tools, 1 off' })).toBeVisible();
  await say(page, 'Sure?');
  await expect(answer.last()).toContainText('Yes.');
  expect(names(model.asked[2])).not.toContain('text_count');
  expect(model.asked[2].tool_choice ?? 'auto').toBe('auto');
});

test('a specialist stands indented below the call that gave it its task', async ({ page, isMobile }) => {
  const agents = '[agent.assistant]\nspecialists = ["counter"]\n[agent.counter]\ndescription = "Counts words."\ntools = ["text_*"]\n';
  await start([calls('ask_counter', { task: 'Count `a b`.' }), calls('text_count', { text: 'a b' }), 'There are **two**.', 'Two words.', 'Hello.'], agents);
  await open(page);
  await say(page, 'How many words?');
  const answer = page.getByRole('article', { name: 'Answer' });
  await expect(answer).toContainText('Two words.');
  for (const isAgain of [false, true]) {
    if (isAgain) await page.reload();
    const child = answer.getByRole('group', { name: 'Specialist' });
    await expect(child).toContainText('counter: Count `a b`.');
    await expect(child.locator('details')).toContainText('text_count');
    await expect(child.locator('strong')).toHaveText('two');
    await expect(answer.locator('summary').first()).toContainText('ask_counter');
  }
  await accessible(page);
  await page.goto(`${server.url}/#/chat/new`);
  // Of several agents one is chosen before the first word.
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('counter');
  await say(page, 'Hello');
  await expect(answer).toContainText('Hello.');
  await expect(page.locator('.thread').first()).toContainText('counter');
  await picture(page, `chat-team-${isMobile ? 'phone' : 'desk'}`);
});

test('whoever may only look is told so at a call that waits', async ({ page }) => {
  await start([calls('uuid_new', {})]);
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.signIn(page, token);
  await page.goto(server.url + '/#/chat/new');
  await say(page, 'Make one');
  const ticket = page.getByRole('group', { name: 'Call that waits' });
  await expect(ticket.getByText('Your role may look, and not decide.')).toBeVisible();
  await expect(ticket.getByRole('button', { name: 'Approve' })).toBeDisabled();
  await accessible(page);
});

test('where there is no agent the page says how to have one', async ({ page }) => {
  server = await Server.start('[[source]]\nid = "basics"\nprefix = ""\nbasics = true\n');
  await page.goto(server.link());
  await page.goto(server.url + '/#/chat');
  await expect(page.getByText('There is no agent that you may ask.')).toBeVisible();
  await accessible(page);
});

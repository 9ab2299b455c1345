import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const file = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const CRIB = `
allow = ["*"]
[[source]]
id = "basics"
prefix = ""
basics = true
[[source]]
id = "changing"
mcp = { command = ["node", "changing.mjs", "--token=hunter22x"], cwd = "." }
[[source]]
id = "off"
enabled = false
mcp = { url = "https://example.com/mcp" }
[profile.small]
sources = ["basics"]
allow = ["*"]
`;
const ANGRY = '[[source]]\nid = "angry"\nmcp = { command = ["node", "angry.mjs"], cwd = "." }\n';
const tool = (name: string, description: string, more: object = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, ...more },
  annotations: { readOnlyHint: true },
});
const tools = (...all: object[]) => JSON.stringify(all);

let server: Server;
test.afterEach(() => server?.stop());

async function inBoth(page: Page, name: string): Promise<void> {
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `${name}-${theme}`);
  }
  expect(await page.locator('main img, main script').count()).toBe(0);
}

test('a source says how it is doing and what its program says, and is loaded again', async ({ page, isMobile }) => {
  const first = tools(tool('one', 'Says one.'));
  server = await Server.start(CRIB + ANGRY, { 'changing.mjs': file('changing.mjs'), 'angry.mjs': file('angry.mjs'), 'tools.json': first });
  await page.goto(server.link());
  await page.goto(server.url + '/#/sources');
  const rows = page.locator('button.of-source');
  await expect(rows).toHaveCount(3);
  await expect(page.getByText('the file leaves it out')).toHaveCount(1);
  await inBoth(page, `sources-${isMobile ? 'phone' : 'desk'}`);
  await page.locator('button.of-source', { hasText: 'angry' }).click();
  const panel = page.getByRole('complementary', { name: 'Source' });
  await expect(panel.getByRole('heading', { name: 'What is wrong' })).toBeVisible();
  await expect(panel.getByText('<script>alert(2)</script>').first()).toBeVisible();
  await panel.getByRole('button', { name: 'Load again' }).click();
  await expect(panel.getByRole('button', { name: 'Load again' })).toBeEnabled();
  await inBoth(page, `source-failed-${isMobile ? 'phone' : 'desk'}`);
  await panel.getByRole('button', { name: 'Close' }).click();
  await page.locator('button.of-source', { hasText: 'changing' }).click();
  await expect(panel.locator('.argv li')).toHaveText(['node', 'changing.mjs', '--token=[secret]']);
  const log = panel.getByRole('log');
  await expect(log).toContainText(`started ${XSS} \\u{202e}gnp.exe`);
  await expect(log.locator('p')).toHaveCount(1);
  await server.call([{ name: 'changing__one' }]);
  await expect(log.locator('p')).toHaveCount(2);
  await expect(log).toContainText('called');
  server.write('tools.json', tools(tool('one', 'Says one.'), tool('two', 'Says two.')));
  await panel.getByRole('button', { name: 'Load again' }).click();
  await expect(panel.getByRole('link', { name: 'Show its 2 tools' })).toBeVisible();
  await expect(panel.getByText('Came with a later list')).toContainText('changing__two');
  await inBoth(page, `source-${isMobile ? 'phone' : 'desk'}`);
  await page.goto(server.url + '/#/sources/none');
  await expect(panel.getByText('has no such source')).toBeVisible();
});

test('what changed of a tool is shown line by line, and accepted as it is shown', async ({ page, isMobile }) => {
  const first = tools(tool('one', 'Says one.'), tool('two', 'Says two.'), tool('six', 'Says six.'), tool('ten', 'Says ten.'));
  server = await Server.start(CRIB, { 'changing.mjs': file('changing.mjs'), 'tools.json': first }, ['lock']);
  await page.goto(server.link());
  await page.goto(server.url + '/#/sources/changing/drift');
  const panel = page.getByRole('region', { name: 'What changed' });
  await expect(panel.getByText('Nothing to look at')).toBeVisible();
  await accessible(page);
  server.write('tools.json', tools(tool('one', 'Says One.'), tool('two', `Says two. ${XSS} \u202E`), tool('six', 'Says six.', { required: ['id'] }), tool('ten', 'Says Ten.')));
  await page.goto(server.url + '/#/sources/changing');
  await page.getByRole('button', { name: 'Load again' }).click();
  await expect(page.getByText('4 tools are kept out until somebody looks')).toBeVisible();
  await accessible(page);
  await page.getByRole('link', { name: 'Look at what changed' }).click();
  await expect(panel.getByText('4 to look at')).toBeVisible();
  const of = (name: string) => panel.locator('section', { hasText: `changing__${name}` });
  await expect(of('one').locator('.before mark').first()).toHaveText('o');
  await expect(of('one').locator('.after mark').first()).toHaveText('O');
  await expect(of('two').locator('.after').first()).toContainText('<script>alert(2)</script>');
  await expect(of('six').locator('.tag')).toHaveText('breaking');
  await inBoth(page, `drift-${isMobile ? 'phone' : 'desk'}`);
  // The first click only arms.
  await of('six').getByRole('button', { name: 'Accept' }).click();
  await of('six').getByRole('button', { name: 'Accept: it may be used from now on' }).click();
  await expect(panel.getByText('1 tool is accepted as shown')).toBeVisible();
  await expect(of('six')).toHaveCount(0);
  await of('two').getByRole('button', { name: 'Keep out' }).click();
  await of('two').getByRole('button', { name: 'Keep out: also as it was before' }).click();
  await expect(panel.getByText('1 tool stays out.')).toBeVisible();
  // It is another one than the one that is looked at.
  server.write('tools.json', tools(tool('one', 'Says one, and more.'), tool('six', 'Says six.', { required: ['id'] }), tool('ten', 'Says Ten.')));
  await page.evaluate(async () => {
    await fetch('v1/sources/changing/reload', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json', 'Toolcrib-Page': localStorage.getItem('toolcrib.page')! } });
  });
  await of('one').getByRole('button', { name: 'Accept' }).click();
  await of('one').getByRole('button', { name: 'Accept: it may be used from now on' }).click();
  await expect(panel.getByText('a tool is another one than the one that was looked at')).toBeVisible();
  await accessible(page);
  await panel.getByRole('button', { name: 'Try again' }).click();
  await expect(of('one').locator('.after').first()).toContainText('and more');
  await panel.getByRole('button', { name: 'Accept 2 cosmetic' }).click();
  await panel.getByRole('button', { name: 'Accept all 2: texts alone changed' }).click();
  await expect(panel.getByText('Nothing to look at')).toBeVisible();
  expect(server.run('lock', '--check')).toBe('');
});

test('what a source would be is looked at word for word, and nothing is started', async ({ page, isMobile }) => {
  server = await Server.start(CRIB, { 'changing.mjs': file('changing.mjs'), 'tools.json': '[]' });
  await page.goto(server.link());
  await page.goto(server.url + '/#/sources');
  await page.getByRole('link', { name: 'Add a source' }).click();
  const panel = page.getByRole('region', { name: 'Add a source' });
  const snippet = { mcpServers: { [XSS]: { command: 'touch', args: ['started', `a\u202Eb ${XSS}`], env: { API_TOKEN: 'ghp_0123456789abcdefghij' } }, changing: { url: 'http://127.0.0.1:9/mcp' } } };
  await panel.getByLabel(/^Paste it here/).fill(JSON.stringify(snippet));
  await panel.getByRole('button', { name: 'Look what it would be' }).click();
  await expect(panel.locator('.argv li').nth(2)).toHaveText(`aU+202Eb ${XSS}`);
  await expect(panel.getByText('there is a source `changing` already')).toBeVisible();
  await expect(panel.getByText('${env:API_TOKEN}').first()).toBeVisible();
  await expect(panel.locator('.out').first()).toContainText('[source.mcp]');
  await expect(page.getByText('ghp_0123456789abcdefghij', { exact: false })).toHaveCount(0);
  await inBoth(page, `add-source-${isMobile ? 'phone' : 'desk'}`);
  await panel.getByLabel('What you have').selectOption('document');
  await panel.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/openapi.json');
  await panel.getByRole('button', { name: 'Look what it would be' }).click();
  await expect(panel.locator('.out').first()).toContainText('[source.openapi]');
  await panel.getByRole('textbox', { name: 'Address' }).fill('javascript:alert(1)');
  await panel.getByRole('button', { name: 'Look what it would be' }).click();
  await expect(panel.getByText('an address begins with')).toBeVisible();
  await panel.getByLabel('What you have').selectOption('snippet');
  await panel.getByLabel(/^Paste it here/).fill('{');
  await panel.getByRole('button', { name: 'Look what it would be' }).click();
  await expect(panel.getByText('this is not JSON')).toBeVisible();
  await accessible(page);
  expect(server.has('started')).toBe(false);
});

test('a source is added as it was looked at, and is gone at once when it is removed', async ({ page, isMobile }) => {
  server = await Server.start(CRIB, { 'changing.mjs': file('changing.mjs'), 'tools.json': tools(tool('one', `Says ${XSS}`), tool('two', 'Says two.')) });
  await page.goto(server.link());
  await page.goto(server.url + '/#/sources/add');
  const panel = page.getByRole('region', { name: 'Add a source' });
  const look = async (server: object) => {
    await panel.getByLabel(/^Paste it here/).fill(JSON.stringify({ mcpServers: { fresh: server } }));
    await panel.getByRole('button', { name: 'Look what it would be' }).click();
  };
  // A secret goes nowhere, and is not shown again.
  await look({ command: 'node', args: ['changing.mjs', '--token=ghp_0123456789abcdefghij'], cwd: '.' });
  await expect(panel.getByText('this looks like a secret')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Add it' })).toHaveCount(0);
  await expect(panel.locator('.argv')).toHaveCount(0);
  await look({ command: 'node', args: ['changing.mjs'], cwd: '.', env: { API_TOKEN: 'hunter22x' } });
  await expect(panel.getByText('a secret was pasted, and none is kept here')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Add it' })).toHaveCount(0);
  await look({ command: 'node', args: ['changing.mjs', 'a\u202Eb'], cwd: '.' });
  await expect(panel.locator('.argv li')).toHaveText(['node', 'changing.mjs', 'aU+202Eb']);
  await panel.getByRole('button', { name: 'Which tools would it bring?' }).click();
  await expect(panel.getByText('2 tools')).toBeVisible();
  await expect(panel.getByText('<script>alert(2)</script>')).toBeVisible();
  await inBoth(page, `add-source-probed-${isMobile ? 'phone' : 'desk'}`);
  // The first click only arms, and another text is another program.
  await panel.getByRole('button', { name: 'Add it' }).click();
  await expect(panel.getByRole('button', { name: 'Start exactly these 3 words from now on' })).toBeVisible();
  await panel.getByLabel(/^Paste it here/).press('End');
  await panel.getByLabel(/^Paste it here/).press('Space');
  await expect(panel.getByRole('button', { name: /Add it|Start exactly/ })).toHaveCount(0);
  await panel.getByRole('button', { name: 'Look what it would be' }).click();
  await panel.getByLabel(/^why/).fill(`to try it ${XSS}`);
  await panel.getByRole('button', { name: 'Add it' }).click();
  await panel.getByRole('button', { name: 'Start exactly these 3 words from now on' }).click();
  const own = page.getByRole('complementary', { name: 'Source' });
  await expect(own.getByRole('heading', { name: 'Added over the file' })).toBeVisible();
  await expect(own.getByText('By local,')).toContainText(`to try it ${XSS}`);
  await expect(own.getByRole('link', { name: 'Show its 2 tools' })).toBeVisible();
  const names = async () => (await (await fetch(server.url + '/v1/tools?source=fresh', { headers: { authorization: `Bearer ${server.token()}` } })).json()).tools.length;
  expect(await names()).toBe(2);
  await inBoth(page, `source-added-${isMobile ? 'phone' : 'desk'}`);
  await page.goto(server.url + '/#/changes');
  await expect(page.getByLabel('Difference')).toContainText('+id = "fresh"');
  await accessible(page);
  await page.goto(server.url + '/#/sources/fresh');
  await own.getByRole('button', { name: 'Remove it' }).click();
  await expect(page.locator('button.of-source', { hasText: 'fresh' })).toHaveCount(0);
  expect(await names()).toBe(0);
  // It comes back as it was, word for word.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(names).toBe(2);
  expect(server.run('overlay', 'show')).toContain('starts ["node","changing.mjs","a\\u{202e}b"]');
});

test('whoever is no admin is told that sources and rules are not for it', async ({ page }) => {
  server = await Server.start(CRIB, { 'changing.mjs': file('changing.mjs'), 'tools.json': '[]' });
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.signIn(page, token);
  await page.goto(server.url + '/#/sources');
  await expect(page.getByText('Your role does not show how the sources are doing')).toBeVisible();
  await accessible(page);
  await page.goto(server.url + '/#/profiles');
  await expect(page.getByText('Your role does not show the rules')).toBeVisible();
  await accessible(page);
  await page.goto(server.url + '/#/plan');
  await expect(page.getByRole('heading', { name: 'For you' })).toBeVisible();
  await expect(page.getByPlaceholder('tenant/subject')).toHaveCount(0);
  await accessible(page);
});

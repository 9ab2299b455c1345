import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const CRIB = `
allow = ["*"]
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
const sum = (n: number) => ({ name: 'calculate', arguments: { expression: `${n}+1` } });

let server: Server;
test.beforeEach(async () => {
  server = await Server.start(CRIB, { 'hostile.mjs': readFileSync(join(import.meta.dirname, 'hostile.mjs'), 'utf8') });
});
test.afterEach(() => server?.stop());

test('calls are listed by their batches, filtered by the address, and shown with what is known', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/calls');
  await expect(page.getByText('No calls yet.')).toBeVisible();
  await accessible(page);
  await server.call([{ ...sum(1), id: XSS }, sum(2), { name: 'calculate', arguments: { expression: '1/' } }]);
  await server.call([{ name: 'hostile__hostile' }]);
  const rows = page.locator('.of-call');
  await expect(rows).toHaveCount(4);
  await expect(page.locator('.batch')).toHaveCount(2);
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `calls-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  await page.getByRole('button', { name: 'failed', exact: true }).click();
  await expect(rows).toHaveCount(1);
  expect(page.url()).toContain('state=failed');
  await rows.first().click();
  const panel = page.getByRole('complementary', { name: 'Call' });
  await expect(panel.getByText('failed: tool')).toBeVisible();
  await accessible(page);
  await picture(page, `call-${isMobile ? 'phone' : 'desk'}`);
  await panel.getByRole('link', { name: 'its batch' }).click();
  await expect(rows).toHaveCount(3);
  await rows.last().click();
  await expect(panel.getByText('<script>alert(2)</script>')).toBeVisible();
  expect(await page.locator('main img, main script').count()).toBe(0);
  await page.goto(server.url + '/#/calls?caller=nobody');
  await expect(page.getByText('No call on record is like that.')).toBeVisible();
  await page.goto(server.url + '/#/calls/none-0');
  await expect(panel.getByText('The record has no call of this key')).toBeVisible();
});

test('new calls come by themselves, and wait while somebody reads further down', async ({ page }) => {
  await page.goto(server.link());
  for (let batch = 0; batch < 4; batch++) await server.call(Array.from({ length: 20 }, (_, at) => sum(100 * batch + at)));
  await page.goto(server.url + '/#/calls');
  const rows = page.locator('.of-call');
  await expect(rows).toHaveCount(80);
  await expect(page.getByText('live', { exact: true })).toBeAttached();
  await server.call([sum(1000)]);
  await expect(rows).toHaveCount(81);
  const list = page.locator('.timeline');
  await list.evaluate(list => (list.scrollTop = 600));
  await server.call([sum(1001)]);
  const pill = page.getByRole('button', { name: '1 new call' });
  await expect(pill).toBeVisible();
  await expect(rows).toHaveCount(81);
  await accessible(page);
  await pill.click();
  await expect(rows).toHaveCount(82);
  expect(await list.evaluate(list => list.scrollTop)).toBe(0);
});

test('a call of whose end nobody knows is looked at, and one that runs is cancelled', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await server.call([{ name: 'hostile__lost' }]);
  await expect(page.getByRole('heading', { name: 'Nobody knows how these ended' })).toBeVisible();
  await expect(page).toHaveTitle(/^\(1\) Now/);
  await page.getByRole('link', { name: 'hostile__lost' }).click();
  const panel = page.getByRole('complementary', { name: 'Call' });
  await panel.getByRole('button', { name: 'It took effect' }).click();
  await accessible(page);
  await picture(page, `unknown-${isMobile ? 'phone' : 'desk'}`);
  await panel.getByRole('button', { name: 'Write down: it took effect' }).click();
  await expect(panel.getByText('Resolved')).toBeVisible();
  await panel.getByRole('button', { name: 'Close' }).click();
  const ends = server.call([{ name: 'hostile__slow' }]);
  await expect(page.getByText('Running for local')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect((await ends).responses[0].kind).toBe('cancelled');
  await expect(page.getByText('Running for local')).toHaveCount(0);
});

test('a call shows what it was about, how long it waited for a person, and is saved with the others', async ({ page, isMobile }) => {
  server.write('crib.toml', CRIB.replace('allow', 'ask = ["calculate"]\nallow'));
  await page.goto(server.link());
  await page.goto(server.url + '/#/calls');
  await expect(page.getByText('No calls yet.')).toBeVisible();
  let ticket = '';
  await expect(async () => {
    const waits = await server.call([sum(1)]);
    ticket = waits.tickets[0].ticket;
  }).toPass();
  server.run('tickets', 'approve', ticket, '--url', server.url);
  await server.call([{ name: 'hostile__hostile', id: '=1+1', arguments: { text: XSS } }]);
  const rows = page.locator('.of-call');
  await expect(rows.filter({ hasText: 'hostile__hostile' })).toHaveCount(1);
  await rows.filter({ hasText: 'calculate' }).first().click();
  const panel = page.getByRole('complementary', { name: 'Call' });
  await expect(panel.getByText('waited for a person for')).toBeVisible();
  await expect(panel.getByRole('region', { name: 'Arguments' })).toContainText('"expression": "1+1"');
  await expect(panel.getByRole('region', { name: 'Result' })).toContainText('"result": "2"');
  await accessible(page);
  await picture(page, `call-kept-${isMobile ? 'phone' : 'desk'}`);
  await panel.getByRole('button', { name: 'Close' }).click();
  await rows.filter({ hasText: 'hostile__hostile' }).click();
  await expect(panel.getByRole('region', { name: 'Arguments' })).toContainText('<script>alert(2)</script>');
  expect(await page.locator('main img, main script').count()).toBe(0);
  await panel.getByRole('button', { name: 'Close' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as csv' }).click()]);
  expect(download.suggestedFilename()).toBe('calls.csv');
  const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
  expect(lines[0]).toContain('key,planned,ended');
  expect(lines.some(line => line.includes(",'=1+1,"))).toBe(true);
});

test('of two tabs one follows the server, and the other goes on when it is closed', async ({ page, context }) => {
  const streams: string[] = [];
  context.on('request', request => request.url().includes('/v1/events') && streams.push(request.url()));
  await page.goto(server.link());
  await page.goto(server.url + '/#/calls');
  await expect(page.getByText('No calls yet.')).toBeVisible();
  await expect.poll(() => streams.length).toBe(1);
  const second = await context.newPage();
  await second.goto(server.url + '/#/calls');
  await expect(second.getByText('No calls yet.')).toBeVisible();
  await server.call([sum(1)]);
  await expect(page.locator('.of-call')).toHaveCount(1);
  await expect(second.locator('.of-call')).toHaveCount(1);
  expect(streams.length).toBe(1);
  await page.goto('about:blank');
  await expect.poll(() => streams.length).toBe(2);
  // It goes on where the other one was.
  expect(streams[1]).toContain('?after=');
  await server.call([sum(2)]);
  await expect(second.locator('.of-call')).toHaveCount(2);
});

test('a page that is not live says so, and goes on without a reload', async ({ page }) => {
  await page.route('**/v1/events*', route => route.abort());
  await page.goto(server.link());
  await page.goto(server.url + '/#/calls');
  await expect(page.getByText('Not live since')).toBeVisible({ timeout: 15_000 });
  await accessible(page);
  await server.call([sum(1)]);
  await page.unroute('**/v1/events*');
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  await expect(page.getByText('Not live since')).toHaveCount(0);
  await expect(page.locator('.of-call')).toHaveCount(1);
});

test('whoever is no admin sees its own calls and resolves none', async ({ page }) => {
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.call([sum(1), sum(2)]);
  await server.call([{ name: 'hostile__lost' }], token);
  await server.signIn(page, token);
  await page.goto(server.url + '/#/calls');
  await expect(page.locator('.of-call')).toHaveCount(1);
  await page.locator('.of-call').click();
  const panel = page.getByRole('complementary', { name: 'Call' });
  await expect(panel.getByText('Only an admin can say so.')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'It took effect' })).toBeDisabled();
  await accessible(page);
});

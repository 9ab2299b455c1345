import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const QUIET = '[store]\nurl = "sqlite://crib.db"\n[[source]]\nid = "basics"\nprefix = ""\nbasics = true\n';
const BUSY = `allow = ["*"]\nask = ["uuid_new"]\n${QUIET}[[source]]\nid = "angry"\nmcp = { command = ["node", "angry.mjs"], cwd = "." }\n`;
const angry = readFileSync(join(import.meta.dirname, 'angry.mjs'), 'utf8');

let server: Server;
test.afterEach(() => server?.stop());

test('the first view says what needs a person, most urgent first, and what happens by itself', async ({ page, isMobile }) => {
  server = await Server.start(BUSY, { 'angry.mjs': angry });
  await page.goto(server.link());
  await expect(page.getByRole('heading', { name: 'Sources' })).toBeVisible();
  await expect(page.getByText('<script>alert(2)</script>')).toBeVisible();
  expect(await page.locator('main img, main script').count()).toBe(0);
  const waits = await server.call([{ name: 'uuid_new' }, { name: 'calculate', arguments: { expression: '1+1' } }]);
  const ticket = waits.tickets[0].ticket;
  await expect(page.getByRole('link', { name: 'uuid_new' })).toHaveAttribute('href', `#/approvals/${ticket}`);
  await expect(page).toHaveTitle(/^\(1\) Now/);
  await expect(page.getByText('2 calls ended, 0 failed')).toBeVisible();
  server.write('crib.toml', BUSY + 'alow = []\n');
  await expect(page.getByRole('heading', { name: 'Configuration' })).toBeVisible({ timeout: 20_000 });
  expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Waiting for a person', 'Sources', 'Configuration', 'Calls, last hour']);
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `now-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  server.run('tickets', 'deny', ticket, '--url', server.url);
  await expect(page.getByRole('link', { name: 'uuid_new' })).toHaveCount(0);
});

test('where nothing waits the page says so, and to others only what they may know', async ({ page }) => {
  server = await Server.start(QUIET);
  await page.goto(server.link());
  await expect(page.getByText('Nothing waits for you. All sources answer.')).toBeVisible();
  await accessible(page);
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.signIn(page, token);
  await expect(page.getByText('None of your calls waits')).toBeVisible();
  await expect(page.getByText('Your role does not show the calls of all.')).toBeVisible();
  await page.route('**/v1/now', route => route.abort());
  await page.reload();
  await expect(page.getByText('The server does not answer')).toBeVisible();
  await accessible(page);
  await page.unroute('**/v1/now');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('None of your calls waits')).toBeVisible();
});

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

test('the bar of a phone has the most urgent views, and the others behind one entry', async ({ page, isMobile }) => {
  server = await Server.start(QUIET);
  await page.goto(server.link());
  const bar = page.getByRole('navigation', { name: 'Views' });
  await expect(bar.getByRole('link', { name: 'Now' })).toBeVisible();
  const more = bar.getByRole('button', { name: 'More' });
  if (!isMobile) {
    // Where there is room, all stand beside each other.
    await expect(more).toBeHidden();
    await expect(bar.getByRole('link', { name: 'Profiles' })).toBeVisible();
    return;
  }
  const shown = bar.locator('> a:visible, > button:visible');
  await expect(shown).toHaveText(['Now', 'Approvals', 'Calls', /^Tools/, 'More']);
  expect(await bar.evaluate(bar => bar.scrollWidth <= bar.clientWidth)).toBe(true);
  await expect(more).toHaveAttribute('aria-expanded', 'false');
  await more.focus();
  await page.keyboard.press('Enter');
  await expect(more).toHaveAttribute('aria-expanded', 'true');
  const behind = bar.locator('.rest a');
  await expect(behind).toHaveText(['Chat', 'Plan', 'Sources', 'Profiles', 'You', 'Changes']);
  await expect(behind.first()).toBeFocused();
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `more-${theme}-phone`);
  }
  await page.keyboard.press('ArrowUp');
  await expect(behind.last()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(behind.nth(1)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(behind.first()).toBeHidden();
  await expect(more).toBeFocused();
  await more.click();
  await behind.filter({ hasText: 'Sources' }).click();
  await expect(page.getByRole('heading', { name: 'Sources' })).toBeVisible();
  await expect(behind.first()).toBeHidden();
  await expect(more).toHaveAttribute('aria-current', 'true');
  // What lies beside it closes it too.
  await more.click();
  await expect(behind.first()).toBeVisible();
  await page.getByRole('heading', { name: 'Sources' }).click();
  await expect(behind.first()).toBeHidden();
});

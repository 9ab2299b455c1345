import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script> \u202Egnp.exe';
const CRIB = `
ask = ["calculate", "hostile__hostile"]
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
const sum = { name: 'calculate', arguments: { expression: '6*7' } };

let server: Server;
test.beforeEach(async () => {
  server = await Server.start(CRIB, { 'hostile.mjs': readFileSync(join(import.meta.dirname, 'hostile.mjs'), 'utf8') });
});
test.afterEach(() => server?.stop());

test('a call that waits comes by itself, is looked at, armed and approved, and runs once', async ({ page, isMobile }) => {
  await page.clock.install();
  await page.goto(server.link());
  await page.goto(server.url + '/#/approvals');
  await expect(page.getByText('Nothing waits for you.')).toBeVisible();
  await accessible(page);
  await server.call([sum]);
  const row = page.locator('.ticket');
  await expect(row).toHaveCount(1);
  await page.clock.pauseAt(Date.now() + 10_000);
  await row.click();
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await expect(panel.locator('.args')).toContainText('6*7');
  // What was shown just now was not looked at.
  await page.keyboard.press('a');
  await expect(panel.getByRole('button', { name: 'Approve now' })).toHaveCount(0);
  await page.clock.resume();
  await page.keyboard.press('Enter');
  await expect(async () => {
    await page.keyboard.press('a');
    await expect(panel.getByText('Press Enter to approve')).toBeVisible({ timeout: 100 });
  }).toPass();
  await accessible(page);
  await picture(page, `approvals-${isMobile ? 'phone' : 'desk'}`);
  await page.keyboard.press('Enter');
  await expect(panel.getByText('What came of it: done')).toBeVisible();
  await expect(panel.locator('.out').first()).toContainText('42');
  await accessible(page);
  await expect(page.locator('.ticket')).toHaveCount(0);
  const record = await fetch(server.url + '/v1/record', { headers: { authorization: `Bearer ${server.token()}` } });
  const calls = ((await record.json()) as { calls: { tool: string; decided_by: { subject: string } }[] }).calls;
  expect(calls.map(call => [call.tool, call.decided_by.subject])).toEqual([['calculate', 'local']]);
});

test('what waits is shown to the letter, and is denied with a reason', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await server.call([{ name: 'hostile__hostile', arguments: { text: XSS, choice: '<b>bold</b>' } }]);
  await page.getByRole('link', { name: 'hostile__hostile' }).click();
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await expect(panel.locator('.args')).toContainText('<script>alert(2)</script> U+202Egnp.exe');
    await accessible(page);
    await picture(page, `approval-hostile-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  expect(await page.locator('main img, main script, main b:not(.note b)').count()).toBe(0);
  await panel.getByRole('button', { name: 'Deny' }).click();
  await panel.getByLabel(/^reason/).fill('not today');
  await panel.getByRole('button', { name: 'Deny' }).click();
  await expect(panel.getByText('What came of it: denied')).toBeVisible();
  await expect(panel.locator('.out').first()).toContainText('not today');
});

test('only what was seen can run, and what somebody else decided waits no more', async ({ page }) => {
  const first = await server.call([sum]);
  const ticket: string = first.tickets[0].ticket;
  await page.goto(server.link());
  await page.goto(`${server.url}/#/approvals/${ticket}`);
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await page.route('**/v1/tickets/*', route =>
    route.request().method() === 'POST'
      ? route.continue({ postData: route.request().postData()!.replace('6*7', '6*8') })
      : route.continue(),
  );
  const approve = async () => {
    await expect(async () => {
      await panel.getByRole('button', { name: 'Approve', exact: false }).first().click();
      await expect(panel.getByText('Press Enter to approve')).toBeVisible({ timeout: 500 });
    }).toPass();
    await panel.getByRole('button', { name: 'Approve now' }).click();
  };
  await approve();
  await expect(panel.getByText('these are not the arguments of the call that waits')).toBeVisible();
  await accessible(page);
  await page.unroute('**/v1/tickets/*');
  server.run('tickets', 'deny', ticket, '--url', server.url);
  await expect(panel.getByText('It waits no more')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Approve' })).toBeDisabled();
});

test('arguments that are too long to be shown whole are denied here, and not approved', async ({ page }) => {
  const waits = await server.call([{ name: 'hostile__hostile', arguments: { text: 'long '.repeat(4000) } }]);
  await page.goto(server.link());
  await page.goto(`${server.url}/#/approvals/${waits.tickets[0].ticket}`);
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await expect(panel.getByText('too long to be shown whole')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Approve' })).toBeDisabled();
  await expect(panel.getByRole('button', { name: 'Deny' })).toBeEnabled();
  await accessible(page);
});

test('whoever may only look sees its own calls that wait, and why it decides none', async ({ page }) => {
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.call([sum]);
  await server.call([{ name: 'calculate', arguments: { expression: '1+1' } }], token);
  await server.signIn(page, token);
  await page.goto(server.url + '/#/approvals');
  await expect(page.locator('.ticket')).toHaveCount(1);
  await page.locator('.ticket').click();
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await expect(panel.getByText('Your role may look, and not decide.')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Approve' })).toBeDisabled();
  await accessible(page);
});

test('a tool that asks for itself is asked about no more for a week, as a change that is shown', async ({ page }) => {
  server.run('overlay', 'set', 'tool.text_count.approval', 'Count?');
  await expect.poll(async () => (await server.call([{ name: 'text_count', arguments: { text: 'a' } }])).tickets?.length).toBe(1);
  const waits = await server.call([sum]);
  await page.goto(server.link());
  await page.goto(`${server.url}/#/approvals/${waits.tickets[0].ticket}`);
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await panel.getByRole('button', { name: 'Stop asking about this' }).click();
  await expect(page.locator('.toast')).toContainText('The rules ask about it');
  await page.goto(`${server.url}/#/approvals`);
  await page.locator('.ticket', { hasText: 'text_count' }).first().click();
  await panel.getByRole('button', { name: 'Stop asking about this' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.locator('.lines')).toContainText('+ tool.text_count.approval = ""');
  await expect(dialog.getByLabel('how long')).toHaveValue('168');
  await accessible(page);
  await dialog.getByRole('button', { name: 'Make it possible' }).click();
  await expect(page.locator('.toast')).toContainText('run unasked');
  const [row] = JSON.parse(server.run('overlay', 'show', '--json')).rows;
  expect([row.path, row.value, Math.round((row.until - row.at) / 86_400)]).toEqual(['tool.text_count.approval', '', 7]);
  expect((await server.call([{ name: 'text_count', arguments: { text: 'a' } }])).responses[0].outcome).toBe('done');
});

test('a number is shown and sent back to its last digit', async ({ page }) => {
  await page.goto(server.link());
  const body = '{"calls":[{"name":"hostile__hostile","arguments":{"more":[12345678901234567890,1e400,1.0]}}]}';
  const headers = { authorization: `Bearer ${server.token()}`, 'content-type': 'application/json' };
  const called = await fetch(server.url + '/v1/calls', { method: 'POST', headers, body });
  const said = (await called.json()) as { tickets: { ticket: string }[]; responses: { text: string }[] };
  expect(said.tickets, JSON.stringify(said.responses)).toHaveLength(1);
  await page.goto(`${server.url}/#/approvals/${said.tickets[0]!.ticket}`);
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await expect(panel.locator('.args')).toContainText('[12345678901234567890,1e+400,1.0]');
  await expect(async () => {
    await page.keyboard.press('a');
    await expect(panel.getByText('Press Enter to approve')).toBeVisible({ timeout: 100 });
  }).toPass();
  await page.keyboard.press('Enter');
  await expect(panel.getByText('What came of it: done')).toBeVisible();
});

test('what is other than in the last call that was approved is said, and several are denied at once', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/approvals');
  await expect(page.getByText('Nothing waits for you.')).toBeVisible();
  const first = await server.call([sum]);
  server.run('tickets', 'approve', first.tickets[0].ticket, '--url', server.url);
  await server.call([{ name: 'calculate', arguments: { expression: '6*8' } }]);
  await page.locator('.ticket').click();
  const panel = page.getByRole('complementary', { name: 'Call that waits' });
  await expect(panel.getByText('Not as before')).toBeVisible();
  await expect(panel.locator('.note del')).toHaveText('"6*7"');
  await expect(panel.locator('.note ins')).toHaveText('"6*8"');
  await accessible(page);
  await picture(page, `approval-unlike-${isMobile ? 'phone' : 'desk'}`);
  await panel.getByRole('button', { name: 'Close' }).click();
  await server.call([{ name: 'calculate', arguments: { expression: '1+1' } }, { name: 'hostile__hostile', arguments: { text: XSS } }]);
  await expect(page.locator('.ticket')).toHaveCount(3);
  await page.getByRole('button', { name: 'Deny several' }).click();
  for (const box of await page.getByRole('checkbox', { name: 'Deny calculate' }).all()) await box.check();
  await page.getByPlaceholder('reason: the model is told').fill('not today');
  await accessible(page);
  await page.getByRole('button', { name: 'Deny 2', exact: true }).click();
  await expect(page.getByText('2 denied')).toBeVisible();
  await expect(page.locator('.ticket')).toHaveCount(1);
  await expect(page.locator('.ticket')).toContainText('hostile__hostile');
});

test('a phone is let in by a code where it reaches the page over https, and else the page says why not', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/approvals');
  const pairing = page.getByRole('button', { name: 'On your phone' });
  if (isMobile) {
    // A phone shows no code to itself.
    await expect(page.getByText('Nothing waits for you.')).toBeVisible();
    await expect(pairing).toBeHidden();
    return;
  }
  await pairing.click();
  await expect(page.getByText('browsers come to this page without TLS')).toBeVisible();
  await accessible(page);
  await pairing.click();
  const rows = ['1010101', '0101010', '1111111', '0000000', '1010101', '0101010', '1111111'];
  await page.route('**/v1/session/link', async route => {
    const answer = await route.fetch();
    const phone = { url: 'https://crib.example.com/#login=0123456789abcdef0123456789abcdef', qr: rows, why: null };
    await route.fulfill({ response: answer, json: { ...(await answer.json()), phone } });
  });
  await pairing.click();
  const code = page.getByRole('img', { name: 'The link as a QR code' });
  await expect(code).toHaveAttribute('viewBox', '0 0 15 15');
  expect((await code.locator('path').getAttribute('d'))!.match(/M/g)).toHaveLength(rows.join('').split('1').length - 1);
  await accessible(page);
});

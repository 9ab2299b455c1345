import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script> \u202Egnp.exe';
const CRIB = `# what this machine has
allow = ["*"]
[[source]]
id = "basics"
prefix = ""
basics = true
[[source]]
id = "hostile"
mcp = { command = ["node", "hostile.mjs"], cwd = "." }
[tool.text_case]
enabled = false   # nobody needs it
`;

let server: Server;
test.beforeEach(async () => {
  server = await Server.start(CRIB, { 'hostile.mjs': readFileSync(join(import.meta.dirname, 'hostile.mjs'), 'utf8') });
});
test.afterEach(() => server?.stop());

const headers = () => ({ authorization: `Bearer ${server.token()}`, 'content-type': 'application/json' });
async function names(): Promise<string[]> {
  const answer = await fetch(server.url + '/v1/tools', { headers: headers() });
  return ((await answer.json()) as { tools: { name: string }[] }).tools.map(tool => tool.name);
}

test('a tool is switched off at once, the change is shown as a difference, and taken back', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/calculate');
  const panel = page.getByRole('complementary', { name: 'Tool' });
  await expect(panel.getByRole('button', { name: 'Switch off' })).toBeEnabled();
  await page.keyboard.press('e');
  const toast = page.locator('.toast');
  await expect(toast).toContainText('calculate is off.');
  expect(await names()).not.toContain('calculate');
  await expect(panel.getByRole('button', { name: 'Switch on' })).toBeVisible();
  await expect(panel.locator('.needs code', { hasText: 'enabled = false' })).toBeVisible();
  await accessible(page);
  await toast.getByRole('button', { name: 'Undo' }).click();
  await expect(toast).toContainText('Taken back.');
  expect(await names()).toContain('calculate');
  await expect(panel.getByRole('button', { name: 'Switch off' })).toBeVisible();
  await panel.getByRole('button', { name: 'Ask first' }).click();
  await expect(toast).toContainText('A person is asked before calls of calculate.');
  await panel.getByRole('combobox', { name: 'Effect' }).selectOption('destroy');
  await expect(toast).toContainText('calculate counts as destroy.');
  if (!isMobile) await page.getByRole('link', { name: '2 changes not in the file' }).click();
  else await page.goto(server.url + '/#/changes');
  await expect(page.locator('.lines .new')).toContainText([/^\+$/, '+[tool.calculate]', '+approval = "somebody wants to look first"', '+effect = "destroy"']);
  await expect(page.locator('.needs li')).toHaveCount(2);
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `changes-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  // To take back what is stricter makes more possible.
  await page.getByRole('button', { name: 'Undo all since this' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('no person is asked before each call')).toBeVisible();
  await accessible(page);
  await dialog.getByRole('button', { name: 'Make it possible' }).click();
  await expect(page.getByText('Nothing is changed over the file.')).toBeVisible();
  expect(JSON.parse(server.run('overlay', 'show', '--json')).rows).toEqual([]);
});

test('what makes more possible is asked about first, with why and for how long', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/text_case');
  const panel = page.getByRole('complementary', { name: 'Tool' });
  await panel.getByRole('button', { name: 'Switch on' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('it may be seen and called again')).toBeVisible();
  await picture(page, `laxer-${isMobile ? 'phone' : 'desk'}`);
  await dialog.getByRole('button', { name: 'Leave it' }).click();
  expect(await names()).not.toContain('text_case');
  await page.keyboard.press('e');
  await dialog.getByLabel(/^why/).fill(XSS);
  await dialog.getByLabel('how long').selectOption('1 hour');
  await dialog.getByRole('button', { name: 'Make it possible' }).click();
  await expect(page.locator('.toast')).toContainText('text_case is on.');
  expect(await names()).toContain('text_case');
  await page.goto(server.url + '/#/changes');
  await expect(page.locator('.lines .gone')).toContainText(['-enabled = false   # nobody needs it']);
  await expect(page.locator('.lines .new')).toContainText(['+enabled = true   # nobody needs it']);
  await expect(page.locator('.needs .foreign')).toContainText('<script>alert(2)</script> U+202Egnp.exe');
  await expect(page.locator('.needs li')).toContainText('until');
  expect(await page.locator('main img, main script').count()).toBe(0);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download patch' }).click();
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('+enabled = true');
  await accessible(page);
});

test('of two who change one field the second is shown what the first did', async ({ page }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/calculate');
  const panel = page.getByRole('complementary', { name: 'Tool' });
  await expect(panel.getByRole('button', { name: 'Exclusive' })).toBeEnabled();
  // The first is there before anybody hears of it.
  let isFirst = true;
  await page.route('**/v1/overlay', async route => {
    if (route.request().method() === 'POST' && isFirst) {
      isFirst = false;
      server.run('overlay', 'set', 'tool.calculate.exclusive', 'false');
    }
    await route.continue();
  });
  await panel.getByRole('button', { name: 'Exclusive' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('Somebody changed this meanwhile')).toBeVisible();
  await expect(dialog.locator('dd').first()).toContainText('tool.calculate.exclusive = false by local');
  await expect(dialog.locator('dd').last()).toContainText('tool.calculate.exclusive = true');
  await accessible(page);
  await dialog.getByRole('button', { name: 'Set mine' }).click();
  await expect(page.locator('.toast')).toContainText('calculate stands alone');
  expect(JSON.parse(server.run('overlay', 'show', '--json')).rows.map((row: { value: unknown }) => row.value)).toEqual([true]);
});

test('several tools are switched off together, and marked in the list', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools');
  await page.getByRole('checkbox', { name: 'Select calculate' }).check();
  await page.getByRole('checkbox', { name: 'Select text_count' }).check();
  const bar = page.getByRole('group', { name: 'Selected tools' });
  await expect(bar).toContainText('2 selected');
  await accessible(page);
  await bar.getByRole('button', { name: 'Switch off' }).click();
  await expect(page.locator('.toast')).toContainText('2 tools: off.');
  await expect(page.locator('.row', { hasText: 'calculate' }).getByText('changed')).toBeVisible();
  await picture(page, `tools-changed-${isMobile ? 'phone' : 'desk'}`);
  const left = await names();
  expect([left.includes('calculate'), left.includes('text_count')]).toEqual([false, false]);
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('.toast')).toContainText('Taken back.');
  expect(await names()).toContain('text_count');
});

test('a text that the file could not say is refused in its words', async ({ page }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/calculate');
  const panel = page.getByRole('complementary', { name: 'Tool' });
  await panel.getByLabel(/^field/).selectOption('timeout');
  await panel.getByLabel(/^timeout/).fill('<b>soon</b>');
  await panel.getByRole('button', { name: 'Set timeout' }).click();
  await expect(page.locator('.toast .bad')).toContainText('tool.calculate.timeout');
  await panel.getByLabel(/^field/).selectOption('title');
  await panel.getByLabel(/^title/).fill(XSS);
  await panel.getByRole('button', { name: 'Set title' }).click();
  // What nobody sees is taken out of the texts that models read, and shown where it was written.
  await expect(panel.locator('.foreign').first()).toContainText('<script>alert(2)</script> gnp.exe');
  await expect(panel.locator('.needs code', { hasText: 'title = ' })).toContainText('<script>alert(2)</script> U+202Egnp.exe');
  await accessible(page);
});

test('whoever may only look sees what could be changed, and why it is not theirs', async ({ page }) => {
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.signIn(page, token);
  await page.goto(server.url + '/#/tools/basics/calculate');
  const panel = page.getByRole('complementary', { name: 'Tool' });
  await expect(panel.getByText('Your role may look, and not change it.')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Switch off' })).toBeDisabled();
  await page.keyboard.press('e');
  await accessible(page);
  await page.goto(server.url + '/#/changes');
  await expect(page.getByText('Your role does not show what is changed over the file.')).toBeVisible();
  expect(await names()).toContain('calculate');
});

import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script> \u202Egnp.exe';
const CRIB = `
allow = ["*"]
[[source]]
id = "basics"
prefix = ""
basics = true
[tool.hash_text]
effect = "write"
`;
const hash = { name: 'hash_text', arguments: { text: 'x' } };

let server: Server;
test.beforeEach(async () => {
  server = await Server.start(CRIB);
});
test.afterEach(() => server?.stop());

const outcome = async (token?: string): Promise<string> => (await server.call([hash], token)).responses[0].outcome;

test('everything is frozen by a key, seen on every view, and lifted', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools');
  await expect(page.getByRole('grid', { name: 'Tools' })).toBeVisible();
  expect(await outcome()).toBe('done');
  await page.keyboard.press('Shift+F');
  const dialog = page.getByRole('dialog', { name: 'Freeze' });
  await dialog.getByLabel(/^why/).fill(XSS);
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `freeze-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  await dialog.getByRole('button', { name: 'Freeze' }).click();
  await expect(dialog).toBeHidden();
  expect(await outcome()).toBe('denied');
  const bar = page.locator('.frozen');
  for (const view of ['now', 'approvals', 'calls', 'tools', 'changes', 'you']) {
    await page.goto(`${server.url}/#/${view}`);
    await expect(bar).toContainText('Frozen: all calls that write or destroy. By local since');
    await expect(bar).toContainText('<script>alert(2)</script> U+202Egnp.exe');
  }
  expect(await page.locator('main img, main script').count()).toBe(0);
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `frozen-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  await page.reload();
  await bar.getByRole('button', { name: 'Lift …' }).click();
  await bar.getByRole('button', { name: 'Let these calls run again' }).click();
  await expect(bar).toHaveCount(0);
  expect(await outcome()).toBe('done');
});

test('one tool is frozen from a button, and what the command freezes comes by itself', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + (isMobile ? '/#/you' : '/#/now'));
  await page.getByRole('button', { name: /^Freeze …/ }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Freeze' });
  await dialog.getByLabel('what').selectOption('a tool');
  await dialog.getByLabel('its name').fill('nothing_like_it');
  await dialog.getByRole('button', { name: 'Freeze' }).click();
  await expect(page.locator('.toast')).toContainText('no tool that is there now is meant by it');
  expect(await outcome()).toBe('done');
  server.run('freeze', 'set', 'tool', 'hash_text', '--why', 'we look into it');
  await expect(page.locator('.frozen').last()).toContainText('calls of hash_text that write or destroy. By local');
  expect(await outcome()).toBe('denied');
});

test('whoever may only look is told what is frozen, and why it neither freezes nor lifts', async ({ page }) => {
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  server.run('freeze', 'set', 'all');
  await expect.poll(() => outcome(token)).toBe('denied');
  await server.signIn(page, token);
  await page.goto(server.url + '/#/tools');
  const bar = page.locator('.frozen');
  await expect(bar).toContainText('Frozen: all calls');
  await expect(bar.getByRole('button', { name: 'Lift …' })).toBeDisabled();
  await expect(page.getByRole('grid', { name: 'Tools' })).toBeVisible();
  await page.keyboard.press('Shift+F');
  const dialog = page.getByRole('dialog', { name: 'Freeze' });
  await expect(dialog.getByText('that takes an approver')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Freeze' })).toBeDisabled();
  await accessible(page);
});

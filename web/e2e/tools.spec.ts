import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const file = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const CRIB = `
allow = ["*"]
ask = ["uuid_new"]
deny = ["hash_text"]

[[source]]
id = "basics"
prefix = ""
basics = true

[[source]]
id = "hostile"
mcp = { command = ["node", "hostile.mjs"], cwd = "." }

[[source]]
id = "many"
mcp = { command = ["node", "many.mjs"], cwd = "." }

[[source]]
id = "more"
mcp = { command = ["node", "many.mjs"], cwd = "." }
`;

let server: Server;
test.beforeAll(async () => {
  // Of ten thousand tools each schema is looked at.
  test.setTimeout(120_000);
  server = await Server.start(CRIB, { 'hostile.mjs': file('hostile.mjs'), 'many.mjs': file('many.mjs') });
});
test.afterAll(() => server?.stop());

test('ten thousand tools are listed, searched and filtered, and the address says what is shown', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools');
  const count = page.locator('.top .num');
  await expect(count).toHaveText(/^10,0\d\d of 10,0\d\d$/);
  const grid = page.getByRole('grid', { name: 'Tools' });
  expect(await grid.locator('.row').count()).toBeLessThan(80);
  await accessible(page);
  await picture(page, isMobile ? 'tools-phone' : 'tools-desk');
  await grid.focus();
  await page.keyboard.press('End');
  await expect(grid.locator('.row').last()).toHaveAttribute('aria-rowindex', /^100\d\d$/);
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox', { name: 'Search tools' }).fill('merge invoice');
  await expect(count).toHaveText(/^100 of/);
  await page.getByRole('button', { name: 'read', exact: true }).click();
  await expect(page.getByText('No tool does that.')).toBeVisible();
  expect(page.url()).toContain('q=merge+invoice');
  expect(page.url()).toContain('effect=read');
  await page.getByRole('button', { name: 'clear the filters' }).click();
  await page.getByRole('combobox', { name: 'Source' }).selectOption('basics');
  await expect(page.locator('.row', { hasText: 'calculate' })).toBeVisible();
  await page.reload();
  await expect(count).toHaveText(/^11 of/);
});

test('a tool says why it is in or out, and is tried from its schema', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/hash_text');
  const panel = page.getByRole('complementary', { name: 'Tool' });
  await expect(panel.getByText('policy denies it to this caller')).toBeVisible();
  await page.goto(server.url + '/#/tools/basics/calculate');
  await expect(panel.getByRole('heading', { name: 'calculate' })).toBeVisible();
  await panel.getByRole('button', { name: 'Run' }).click();
  await expect(panel.locator('.note.bad')).toContainText('expression');
  await panel.getByLabel(/^expression/).fill('6 * 7');
  await panel.getByRole('button', { name: 'Check' }).click();
  await expect(panel.getByText('It would run.')).toBeVisible();
  await panel.getByRole('button', { name: 'Run' }).click();
  await expect(panel.locator('.out').first()).toContainText('42');
  await accessible(page);
  await picture(page, isMobile ? 'try-phone' : 'try-desk');
  await panel.getByRole('button', { name: 'JSON' }).click();
  await expect(panel.getByRole('textbox', { name: /arguments/ })).toHaveValue(/6 \* 7/);
  await page.goto(server.url + '/#/tools/basics/uuid_new');
  await panel.getByRole('button', { name: 'Check' }).click();
  await expect(panel.getByText('A person would be asked first')).toBeVisible();
});

test('what a hostile server says is text, all of it, and its schema holds nothing up', async ({ page, isMobile }) => {
  await page.goto(server.link());
  const name = (tool: string) => `hostile__${tool}`;
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => localStorage.setItem('toolcrib.theme', theme), theme);
    await page.goto(server.url + '/#/tools?source=hostile');
    await page.reload();
    await page.goto(server.url + `/#/tools/hostile/${name('hostile')}?source=hostile`);
    const panel = page.getByRole('complementary', { name: 'Tool' });
    await expect(panel.getByRole('heading', { name: 'Try it' })).toBeVisible();
    await expect(panel.getByText('<script>alert(2)</script>').first()).toBeVisible();
    await accessible(page);
    await picture(page, `hostile-${theme}-${isMobile ? 'phone' : 'desk'}`);
    expect(await page.locator('main img, main script, main iframe, main a[href^="javascript"]').count()).toBe(0);
    await panel.getByRole('button', { name: 'Run' }).click();
    await expect(panel.locator('.out').first()).toContainText('onerror=alert(1)');
  }
  const began = Date.now();
  await page.goto(server.url + `/#/tools/hostile/${name('wide')}`);
  await expect(page.getByLabel('field_499')).toBeAttached();
  expect(await page.getByLabel('field_500').count()).toBe(0);
  expect(Date.now() - began).toBeLessThan(5000);
});

test('each field of a tool says who said it, and what would hold otherwise', async ({ page, isMobile }) => {
  const own = await Server.start('allow = ["*"]\n[[source]]\nid = "basics"\nprefix = ""\nbasics = true\n\n[tool.calculate]\ntitle = "Sums"\n');
  try {
    await page.goto(own.link());
    await page.goto(own.url + '/#/tools/basics/calculate');
    const said = page.getByRole('region', { name: 'Who says what' });
    const field = (name: string) => said.locator(`dt:text-is("${name}") + dd`);
    await expect(field('title')).toHaveText(/^Sums\s*from crib.toml, line 8$/);
    await expect(field('summary')).toContainText('from the source');
    await expect(field('retries')).toHaveCount(0);
    own.run('overlay', 'set', 'tool.calculate.title', XSS, '--for', '1d', '--why', XSS);
    await expect(field('title')).toContainText('changed by local, today at');
    await expect(field('title')).toContainText('until tomorrow at');
    await expect(field('title')).toContainText('crib.toml, line 8 says Sums');
    await expect(field('title')).toContainText('<script>alert(2)</script>');
    expect(await page.locator('main img, main script').count()).toBe(0);
    for (const theme of ['light', 'dark']) {
      await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
      await accessible(page);
      await picture(page, `tool-fields-${theme}-${isMobile ? 'phone' : 'desk'}`);
    }
    await said.getByRole('button', { name: 'All 27 fields' }).click();
    await expect(said.locator('dt')).toHaveCount(27);
    await expect(field('retries')).toHaveText(/^nothing\s*from the source$/);
    // Who is no operator is told whose word it is, and no more.
    const token = own.token('other');
    await expect.poll(async () => (await fetch(own.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    await own.signIn(page, token);
    await page.goto(own.url + '/#/tools/basics/calculate');
    await expect(field('title')).toContainText('changed over the file');
    await expect(said).not.toContainText('local');
  } finally {
    own.stop();
  }
});

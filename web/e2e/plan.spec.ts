import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

const XSS = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
const CRIB = `
allow = ["*"]
ask = ["uuid_new"]
[store]
url = "sqlite://crib.db"
[[rule]]
name = '${XSS}'
when = { scope = "guest" }
deny = ["hash_*"]
[[source]]
id = "basics"
prefix = ""
basics = true
[[source]]
id = "hostile"
mcp = { command = ["node", "hostile.mjs"], cwd = "." }
toolsets = { by = "all" }
[toolset.sums]
summary = '${XSS}'
tools = ["calculate", "uuid_*"]
[profile.small]
sources = ["basics"]
allow = ["calculate", "uuid_*"]
[model]
url = "http://127.0.0.1:9/v1"
name = "none"
[agent.clerk]
instructions = "Works."
description = '${XSS}'
specialists = ["sums"]
`;

let server: Server;
test.beforeAll(async () => {
  server = await Server.start(CRIB, { 'hostile.mjs': readFileSync(join(import.meta.dirname, 'hostile.mjs'), 'utf8') });
});
test.afterAll(() => server?.stop());

async function inBoth(page: Page, name: string): Promise<void> {
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await picture(page, `${name}-${theme}`);
  }
  expect(await page.locator('main img, main script').count()).toBe(0);
}

test('a plan shows what a model is given, for whom, why, and what it costs', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/plan');
  await expect(page.getByRole('heading', { name: 'For you' })).toBeVisible();
  const costs = page.getByRole('table', { name: 'Tokens of the prompt' });
  await expect(costs.locator('tbody tr')).toHaveCount(12);
  const out = page.getByRole('region', { name: 'Body of the request' });
  await expect(out).toContainText('"function"');
  await inBoth(page, `plan-${isMobile ? 'phone' : 'desk'}`);
  await page.getByRole('combobox', { name: 'Dialect' }).selectOption('anthropic');
  await expect(out).toContainText('input_schema');
  expect(page.url()).toContain('dialect=anthropic');
  const whom = page.getByPlaceholder('tenant/subject');
  await whom.fill('acme/ann');
  await whom.press('Enter');
  await expect(page.getByText('this caller is let in nowhere here').first()).toBeVisible();
  await accessible(page);
  const scopes = page.getByPlaceholder('tools', { exact: true });
  await scopes.fill('tools, guest');
  await scopes.press('Enter');
  await expect(page.getByRole('heading', { name: 'For acme/ann' })).toBeVisible();
  const why = page.getByRole('table', { name: 'Why each tool' });
  await page.getByPlaceholder('Only these tools or rules').fill('hash');
  await expect(why.locator('tbody tr')).toHaveCount(1);
  await expect(why).toContainText('out');
  const without = page.getByPlaceholder('tools that are out');
  await without.fill('calculate');
  await without.press('Enter');
  await page.getByPlaceholder('Only these tools or rules').fill('calculate');
  await expect(why.locator('tbody tr')).toContainText('out');
  await page.reload();
  await expect(page.getByRole('heading', { name: 'For acme/ann' })).toBeVisible();
});

test('profiles show their rules with lines and what they match, and other rules are tried', async ({ page, isMobile }) => {
  await page.goto(server.link());
  await server.call([{ name: 'calculate', arguments: { expression: '1+1' } }]);
  await page.goto(server.url + '/#/profiles');
  const rules = page.getByRole('table', { name: 'Rules with their lines' });
  await expect(rules.locator('tbody tr')).toHaveCount(3);
  await expect(rules.locator('tbody tr').first()).toContainText('2');
  await expect(page.getByText('worked with by clerk')).toBeVisible();
  await page.locator('summary', { hasText: 'sums' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('details[open] .tag', { hasText: 'calculate' })).toBeVisible();
  await page.getByRole('textbox', { name: /^Rules/ }).fill('allow = ["hash_*"]\nask = ["calc*"]');
  await page.getByRole('button', { name: 'Test' }).click();
  const changes = page.getByRole('table', { name: 'Calls that would be decided otherwise' });
  await expect(changes.locator('tbody tr')).toHaveCount(1);
  await expect(changes).toContainText('is asked about · runs now');
  await inBoth(page, `profiles-${isMobile ? 'phone' : 'desk'}`);
  await page.getByRole('textbox', { name: /^Rules/ }).fill('alow = []');
  await page.getByRole('button', { name: 'Test' }).click();
  await expect(page.getByText('Line 1:')).toBeVisible();
  await accessible(page);
  await page.getByRole('navigation', { name: 'Profiles' }).getByRole('link', { name: 'small' }).click();
  await expect(page.getByRole('heading', { name: 'Its rules' })).toBeVisible();
  await expect(rules.first().locator('tbody tr')).toHaveCount(2);
  await inBoth(page, `profile-${isMobile ? 'phone' : 'desk'}`);
  await page.goto(server.url + '/#/profiles/none');
  await expect(page.getByText('the configuration does not name')).toBeVisible();
});

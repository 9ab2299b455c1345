// The pictures of the book and of the README: the same data at the same time, whenever they are made.
//
// They are made by hand, as fonts differ between machines: `TOOLCRIB_PICTURES=docs/operating/page`.
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from './guard';
import { ScriptedModel } from './model';
import { Server } from './server';

const PLACE = process.env.TOOLCRIB_PICTURES;
const NOW = Date.parse('2026-12-01T10:00:00Z');
const CRIB = (url: string) => `
allow = ["*"]
ask = ["send_email", "delete_calendar_event"]
[model]
url = "${url}"
name = "m"
[store]
url = "sqlite://crib.db"
[[source]]
id = "desk"
prefix = ""
desk = {}
[[source]]
id = "basics"
prefix = ""
basics = true
`;
const mail = { to: ['ada@example.com'], subject: 'Invoice 2026-117', body: 'Dear Ada,\n\nthe invoice of November is attached.\n\nBest,\nSam' };
const ANSWER = `There are **two** invoices that are open:

| invoice | due | amount |
|---|---|---|
| 2026-117 | 4 December | 1,240.00 |
| 2026-121 | 11 December | 310.50 |

I can write to Ada about the first one.`;

/** Has the server say that all of it happened around that time. */
async function timed(page: Page, began: number): Promise<void> {
  const shift = NOW - began;
  await page.clock.install({ time: NOW });
  await page.route(/\/v1\/(record|calls|now|tickets|runs|threads|session)(\?|\/|$)/, async route => {
    if (route.request().url().includes('/events')) return route.continue();
    const answer = await route.fetch();
    const text = (await answer.text())
      .replace(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/g, (_, time: string) => JSON.stringify(new Date(Date.parse(time) + shift).toISOString()))
      .replace(/"at_ms":(\d+)/g, (_, time: string) => `"at_ms":${Number(time) + shift}`)
      .replace(/"created_at":(\d+)/g, (_, time: string) => `"created_at":${Number(time) + Math.round(shift / 1000)}`);
    await route.fulfill({ response: answer, body: text });
  });
}
const taken = async (page: Page, name: string) => (await page.evaluate(() => document.fonts.ready), page.screenshot({ path: join('..', PLACE!, `${name}.png`), animations: 'disabled' }));

test.skip(!PLACE, 'pictures are made by hand');

test('each area has its picture', async ({ page, isMobile }) => {
  const model = await ScriptedModel.start([[{ name: 'calculate', arguments: { expression: '1240 + 310.5' } }], ANSWER, [{ name: 'send_email', arguments: mail }]]);
  const server = await Server.start(CRIB(model.url));
  try {
    const began = Date.now();
    await timed(page, began);
    await page.goto(server.link());
    await expect(page.getByRole('navigation', { name: 'Views' })).toBeVisible();
    const at = (path: string) => page.goto(`${server.url}/#/${path}`);
    await server.call([{ name: 'list_tasks' }, { name: 'calculate', arguments: { expression: '12*31' } }, { name: 'calculate', arguments: { expression: '1/' } }]);
    await server.call([{ name: 'create_task', arguments: { title: 'Call the landlord' } }, { name: 'list_calendars' }]);
    await server.call([{ name: 'send_email', arguments: mail }]);
    await at('now');
    await expect(page.getByRole('link', { name: 'send_email' })).toBeVisible();
    if (!isMobile) await taken(page, 'now-desk');
    await at('approvals');
    await page.locator('.ticket').click();
    await expect(page.locator('.args')).toContainText('Invoice 2026-117');
    await taken(page, `approvals-${isMobile ? 'phone' : 'desk'}`);
    if (isMobile) return;
    await at('calls');
    await expect(page.locator('.of-call')).toHaveCount(5);
    await page.locator('.of-call').first().click();
    await expect(page.getByRole('region', { name: 'Arguments' })).toBeVisible();
    await taken(page, 'calls-desk');
    await at('tools/desk/create_task');
    await expect(page.getByRole('heading', { name: 'Try it' })).toBeVisible();
    await taken(page, 'tools-desk');
    await at('sources/desk');
    await expect(page.getByRole('complementary', { name: 'Source' })).toBeVisible();
    await taken(page, 'sources-desk');
    await at('plan');
    await expect(page.getByText('Counting tokens')).toBeHidden();
    await expect(page.locator('.bars .share').first()).toBeVisible();
    await taken(page, 'plan-desk');
    await at('profiles');
    await expect(page.getByRole('heading').first()).toBeVisible();
    await taken(page, 'profiles-desk');
    await at('tools/basics/text_case');
    await page.getByRole('button', { name: 'Ask first' }).click();
    await expect(page.locator('.toast')).toContainText('A person is asked');
    await at('changes');
    await expect(page.locator('.lines .new').first()).toBeVisible();
    await taken(page, 'changes-desk');
    await at('chat/new');
    for (const [said, done] of [['Which invoices are open?', 'I can write to Ada'], ['Please do.', 'runs once']] as const) {
      await page.getByRole('textbox', { name: 'Message' }).fill(said);
      await page.keyboard.press('Enter');
      await expect(page.getByText(done)).toBeVisible();
    }
    await page.locator('.talked').evaluate(box => (box.scrollTop = box.scrollHeight));
    await taken(page, 'chat-desk');
  } finally {
    server.stop();
    model.stop();
  }
});

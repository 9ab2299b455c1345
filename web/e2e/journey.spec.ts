// The whole way of somebody who opens the page for the first time.
import { accessible, expect, picture, test } from './guard';
import { McpClient } from './mcp';
import { ScriptedModel } from './model';
import { Server } from './server';

const CRIB = (url: string) => `
allow = ["*"]
[model]
url = "${url}"
name = "m"
[store]
url = "sqlite://crib.db"
[[source]]
id = "desk"
prefix = ""
[source.desk]
timezone = "UTC"
only = ["calendar"]
[[source]]
id = "basics"
prefix = ""
basics = true
`;
const dentist = { title: 'Dentist', start: '2030-03-05T09:00', duration: '30 min' };
const lunch = { title: 'Lunch with Ada', start: '2030-03-06T12:00', duration: '1 hour' };

let server: Server;
let model: ScriptedModel;
let client: McpClient;
test.afterEach(() => {
  client?.stop();
  server?.stop();
  model?.stop();
});

/** The events of the calendar, as a client finds them. */
async function events(): Promise<{ id: string; title: string }[]> {
  const listed = await server.call([{ name: 'list_calendar_events', arguments: { from: '2030-03-01', until: '2030-03-31' } }]);
  expect(listed.responses[0].outcome, JSON.stringify(listed)).toBe('done');
  return listed.responses[0].structured.data;
}

test('a new user finds a tool, runs it, takes it from a client, approves a deletion, reads what happened, and talks', async ({ page, isMobile }) => {
  model = await ScriptedModel.start([[{ name: 'add_calendar_event', arguments: lunch }], 'It is in your calendar.']);
  server = await Server.start(CRIB(model.url));
  client = await McpClient.connect(server.url, server.token());
  expect(await client.tools()).toContain('calculate');
  const made = await client.ask('tools/call', { name: 'add_calendar_event', arguments: dentist });
  expect(made.isError, JSON.stringify(made)).toBeFalsy();
  const [event] = await events();
  const views = page.getByRole('navigation', { name: 'Views' });

  // The printed link signs in, and a tool is found by its name.
  await page.goto(server.link());
  await expect(page.getByRole('heading', { name: 'Now' })).toBeVisible();
  await views.getByRole('link', { name: 'Tools' }).click();
  await page.getByRole('searchbox', { name: 'Search tools' }).fill('calculate');
  await page.locator('.row', { hasText: 'calculate' }).first().click();
  const tool = page.getByRole('complementary', { name: 'Tool' });
  await tool.getByRole('textbox', { name: /^expression/ }).fill('6*7');
  await tool.getByRole('button', { name: /^Run/ }).click();
  await expect(tool.getByRole('region', { name: 'What came of it' })).toContainText('42');

  // Switched off, it is gone from the client as soon as it is said to be off.
  await tool.getByRole('button', { name: 'Switch off' }).click();
  await expect(page.locator('.toast')).toContainText('calculate is off.');
  expect(await client.tools()).not.toContain('calculate');
  await expect.poll(() => client.heard).toContain('notifications/tools/list_changed');
  await tool.getByRole('button', { name: 'Close' }).click();

  // What the client wants to delete comes by itself, and its task goes on with the approval.
  const task = await client.ask('tools/call', { name: 'delete_calendar_event', arguments: { event_id: event!.id } });
  expect(task.resultType, JSON.stringify(task)).toBe('task');
  await views.getByRole('link', { name: 'Approvals' }).click();
  await page.locator('.ticket', { hasText: 'delete_calendar_event' }).click();
  const waits = page.getByRole('complementary', { name: 'Call that waits' });
  await expect(waits.locator('.args')).toContainText(event!.id);
  await accessible(page);
  expect((await events()).map(event => event.title)).toEqual(['Dentist']);
  await expect(async () => {
    await waits.getByRole('button', { name: 'Approve' }).first().click();
    await expect(waits.getByText('Press Enter to approve')).toBeVisible({ timeout: 500 });
  }).toPass();
  await page.keyboard.press('Enter');
  await expect(waits.getByText('What came of it: done')).toBeVisible();
  await expect.poll(async () => (await client.ask('tasks/get', { taskId: task.taskId })).status).toBe('completed');
  expect((await client.ask('tasks/get', { taskId: task.taskId })).result.isError).toBeFalsy();
  expect(await events()).toEqual([]);
  await waits.getByRole('button', { name: 'Close' }).click();

  // What happened stands among the calls.
  await views.getByRole('link', { name: 'Calls' }).click();
  const deleted = page.locator('.of-call', { hasText: 'delete_calendar_event' });
  await expect(deleted).toHaveCount(1);
  await deleted.click();
  const call = page.getByRole('complementary', { name: 'Call' });
  await expect(call.getByRole('region', { name: 'Arguments' })).toContainText(event!.id);
  await expect(call.getByText('waited for a person for')).toBeVisible();
  await accessible(page);
  await picture(page, `journey-call-${isMobile ? 'phone' : 'desk'}`);
  await call.getByRole('button', { name: 'Close' }).click();

  // A conversation changes the calendar of the same desk.
  if (isMobile) await views.getByRole('button', { name: 'More' }).click();
  await views.getByRole('link', { name: 'Chat' }).click();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('Lunch with Ada on 6 March 2030 at noon, please');
  await page.keyboard.press('Enter');
  const answer = page.getByRole('article', { name: 'Answer' });
  await expect(answer).toContainText('It is in your calendar.');
  await expect(answer.locator('details')).toContainText('done');
  expect(model.asked[0].tools.map((tool: { function: { name: string } }) => tool.function.name)).not.toContain('calculate');
  expect((await events()).map(event => event.title)).toEqual(['Lunch with Ada']);
  await accessible(page);
});

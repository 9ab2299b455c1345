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
`;
const sum = { name: 'calculate', arguments: { expression: '6*7' } };

let server: Server;
test.beforeEach(async () => {
  server = await Server.start(CRIB);
});
test.afterEach(() => server?.stop());

test('a tool says who changed what of it, and how its last calls ended', async ({ page, isMobile }) => {
  await server.call([sum]);
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/calculate');
  const history = page.getByRole('region', { name: 'History' });
  const changes = history.getByRole('list', { name: 'Changes of it' }).getByRole('listitem');
  const calls = history.getByRole('list', { name: 'Last calls' }).getByRole('listitem');
  await expect(history.getByText('Nothing of it was changed here in the last 180 days.')).toBeVisible();
  await expect(calls).toHaveCount(1);
  await expect(calls).not.toContainText('not then as it is now');
  server.run('overlay', 'set', 'tool.calculate.title', XSS, '--for', '1d', '--why', XSS);
  await expect(changes.first()).toContainText(`local set title = ${XSS}, until tomorrow at`);
  await expect(calls.first()).toContainText('it was not then as it is now');
  expect(await page.locator('main img, main script').count()).toBe(0);
  await page.getByRole('complementary', { name: 'Tool' }).getByRole('button', { name: 'Ask first' }).click();
  await expect(changes.first()).toContainText('local set approval = somebody wants to look first');
  server.run('overlay', 'clear');
  await expect(changes).toHaveCount(4);
  await expect(changes.first()).toContainText('local took back');
  for (const theme of ['light', 'dark']) {
    await page.evaluate(theme => (document.documentElement.dataset.theme = theme), theme);
    await accessible(page);
    await history.scrollIntoViewIfNeeded();
    await picture(page, `tool-history-${theme}-${isMobile ? 'phone' : 'desk'}`);
  }
  await calls.getByRole('link').first().click();
  await expect(page.getByRole('complementary', { name: 'Call' })).toContainText('calculate');
});

test('older changes come by pages, and whoever is no admin sees its own calls alone', async ({ page }) => {
  for (let hours = 1; hours <= 12; hours++) server.run('overlay', 'set', 'tool.calculate.timeout', `${hours}h`);
  await server.call([sum]);
  await page.goto(server.link());
  await page.goto(server.url + '/#/tools/basics/calculate');
  const history = page.getByRole('region', { name: 'History' });
  const changes = history.getByRole('list', { name: 'Changes of it' }).getByRole('listitem');
  await expect(changes).toHaveCount(20);
  await history.getByRole('button', { name: 'Show older changes' }).click();
  await expect(changes).toHaveCount(23);
  await expect(changes.last()).toContainText('local set timeout = 1h');
  const token = server.token('other');
  await expect.poll(async () => (await fetch(server.url + '/v1/tools', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
  await server.signIn(page, token);
  await page.goto(server.url + '/#/tools/basics/calculate');
  await expect(history.getByText('Your role does not show who changed it.')).toBeVisible();
  await expect(history.getByText('The record has no call of it of yours.')).toBeVisible();
  await accessible(page);
});

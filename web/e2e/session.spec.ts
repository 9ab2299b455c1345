import { createServer, type Server as Http } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessible, expect, picture, test } from './guard';
import { Server } from './server';

let server: Server;
test.beforeAll(async () => (server = await Server.start('[[source]]\nid = "basics"\nprefix = ""\nbasics = true\n')));
test.afterAll(() => server.stop());

test('a link signs in once and leaves no code in the address, and signing out ends it', async ({ page, isMobile }) => {
  const link = server.link();
  await page.goto(link);
  await expect(page.getByRole('navigation', { name: 'Views' })).toBeVisible();
  expect(page.url()).not.toContain('login');
  expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
  await page.goto(server.url + '/#/you');
  await expect(page.getByText('local of local', { exact: true })).toBeVisible();
  await accessible(page);
  await picture(page, isMobile ? 'you-phone' : 'you-desk');
  await page.reload();
  await expect(page.getByText('local of local', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in to toolcrib' })).toBeVisible();
  await accessible(page);
  await page.goto('about:blank');
  await page.goto(link);
  await expect(page.getByText('was used, or is too old')).toBeVisible();
  await accessible(page);
});

test('other browsers that are signed in are listed, and ended one by one', async ({ page, browser }) => {
  const other = await (await browser.newContext()).newPage();
  await other.goto(server.link());
  await expect(other.getByRole('navigation', { name: 'Views' })).toBeVisible();
  await page.goto(server.link());
  await page.goto(server.url + '/#/you');
  await expect(page.getByText('local of local, this browser')).toHaveCount(1);
  const ends = page.getByRole('button', { name: 'End the session of local' });
  await expect(ends.first()).toBeVisible();
  await accessible(page);
  for (let left = await ends.count(); left > 0; left--) {
    await ends.first().click();
    await expect(ends).toHaveCount(left - 1);
  }
  await expect(other.getByText('Signed out.')).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText('local of local, this browser')).toHaveCount(1);
});

test('the theme follows the person, in both of which all can be read', async ({ page }) => {
  await page.goto(server.link());
  await page.goto(server.url + '/#/you');
  const theme = page.getByRole('button', { name: /Theme/ });
  if (!(await theme.isVisible())) return;
  await theme.click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await accessible(page);
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('HTML cannot be made of strings, whoever tries', async ({ page }) => {
  await page.goto(server.link());
  await expect(page.getByRole('navigation', { name: 'Views' })).toBeVisible();
  const tried = await page.evaluate(() => {
    const told: string[] = [];
    const attempts: Record<string, () => unknown> = {
      html: () => (document.querySelector('main')!.innerHTML = '<b>x</b>'),
      policy: () => (window as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } }).trustedTypes.createPolicy('own', {}),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      try {
        attempt();
      } catch {
        told.push(name);
      }
    }
    // They were counted, and are what this is about.
    return new Promise<[string[], number]>(done => setTimeout(() => done([told, window.broken.splice(0).length]), 100));
  });
  expect(tried[0]).toEqual(['html', 'policy']);
  expect(tried[1]).toBeGreaterThanOrEqual(2);
});

test('another port of this host is sent the cookie, and can do nothing with it', async ({ page, context }) => {
  const seen: string[] = [];
  const other: Http = createServer((request, answer) => {
    seen.push(request.headers.cookie ?? '');
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>');
  });
  await new Promise<void>(done => other.listen(0, '127.0.0.1', done));
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  await page.goto(server.link());
  await expect(page.getByRole('navigation', { name: 'Views' })).toBeVisible();
  const thief = await context.newPage();
  await thief.goto(elsewhere);
  expect(seen[0]).toContain('toolcrib_');
  const alone = await fetch(server.url + '/v1/tools', { headers: { cookie: seen[0]! } });
  expect(alone.status).toBe(401);
  const attempts = await thief.evaluate(async url => {
    const ends: string[] = [];
    const body = JSON.stringify({ calls: [{ name: 'uuid_new' }] });
    for (const [path, init] of [
      ['/v1/tools', { credentials: 'include' }],
      ['/v1/calls', { method: 'POST', credentials: 'include', mode: 'no-cors', body }],
      ['/v1/calls', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'toolcrib-page': 'x' }, body }],
      ['/v1/session', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{}' }],
    ] as [string, RequestInit][]) {
      ends.push(await fetch(url + path, init).then(answer => `${answer.type} ${answer.status}`, () => 'refused'));
    }
    return ends;
  }, server.url);
  // What cannot be read is told as `opaque`, whatever the server said.
  expect(attempts).toEqual(['refused', expect.stringMatching(/refused|opaque 0/), 'refused', 'refused']);
  const record = await fetch(server.url + '/v1/calls', { headers: { authorization: `Bearer ${server.token()}` } });
  expect((await record.json()).calls).toEqual([]);
  const framed = await context.newPage();
  await framed.goto(elsewhere);
  await framed.evaluate(url => {
    const frame = document.createElement('iframe');
    frame.src = url;
    document.body.append(frame);
    return new Promise(done => (frame.onload = done));
  }, server.url + '/');
  expect(await framed.frames()[1]!.locator('#app').count()).toBe(0);
  other.close();
});

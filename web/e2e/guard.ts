// What holds in every test: no dialog opens, nothing breaks the policy of the page, and nothing is
// asked of any other server.
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test as base, type Page } from '@playwright/test';

declare global {
  interface Window {
    broken: string[];
  }
}

export const test = base.extend<{ guarded: void }>({
  guarded: [
    async ({ page }, use) => {
      const strays: string[] = [];
      let own = '';
      page.on('dialog', dialog => {
        throw new Error('a dialog opened: ' + dialog.message());
      });
      page.on('request', request => {
        const origin = new URL(request.url()).origin;
        own ||= origin;
        if (origin !== own && !request.url().startsWith('blob:')) strays.push(request.url());
      });
      await page.addInitScript(() => {
        window.broken = [];
        document.addEventListener('securitypolicyviolation', event => window.broken.push(event.violatedDirective + ' ' + event.blockedURI));
      });
      await use();
      expect(await page.evaluate(() => window.broken)).toEqual([]);
      expect(strays).toEqual([]);
    },
    { auto: true },
  ],
});

/** Axe finds nothing at all. */
export async function accessible(page: Page): Promise<void> {
  const axe = new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']);
  const { violations } = await axe.exclude('.row:nth-child(n+12)').analyze();
  expect(violations.map(found => `${found.impact} ${found.id}: ${found.nodes.map(node => node.html).join(' ')}`)).toEqual([]);
}

/** A picture, if somebody wants any. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TOOLCRIB_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
}

export { expect };

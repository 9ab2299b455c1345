import { defineConfig, devices } from '@playwright/test';

const chromium = { launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' } };

export default defineConfig({
  testDir: 'e2e',
  outputDir: '../target/page-tests',
  timeout: 120_000,
  workers: 1,
  retries: 0,
  forbidOnly: true,
  reporter: [['list']],
  use: { ...chromium, locale: 'en-GB', timezoneId: 'UTC', contextOptions: { reducedMotion: 'reduce' } },
  projects: [
    { name: 'desk', use: { viewport: { width: 1440, height: 900 } } },
    { name: 'phone', use: { ...devices['Pixel 7'], ...chromium } },
  ],
});

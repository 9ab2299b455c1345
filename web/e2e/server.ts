// A server of its own for each test file: the real binary, with its state in a folder that goes away.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';

const BINARY = process.env.TOOLCRIB ?? join(import.meta.dirname, '../../target/debug/toolcrib');

export class Server {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  /** `files`: what lies beside the configuration; `first`: a command that is run before. */
  static async start(crib: string, files: Record<string, string> = {}, first: string[] = []): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-page-'));
    for (const [name, text] of Object.entries({ 'crib.toml': crib, ...files })) writeFileSync(join(folder, name), text);
    const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state') };
    if (first.length) execFileSync(BINARY, ['--config', 'crib.toml', ...first], { cwd: folder, env });
    const child = spawn(BINARY, ['--config', 'crib.toml', 'serve', '--listen', '127.0.0.1:0'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let told = '';
    child.stderr!.on('data', (bytes: Buffer) => (told = (told + bytes.toString()).slice(-10_000)));
    const line = await new Promise<string>((found, failed) => {
      createInterface({ input: child.stdout! }).once('line', found);
      child.once('exit', code => failed(new Error(`the server ended with ${code}: ${told}`)));
    });
    const server = new Server(child, folder, line.replace('listening on ', '').trim());
    for (let tries = 0; tries < 1200; tries++) {
      const ready = await fetch(server.url + '/readyz').catch(() => null);
      if (ready?.ok) return server;
      await new Promise(next => setTimeout(next, 50));
    }
    server.stop();
    throw new Error(`the server is not ready: ${told}`);
  }

  /** A command beside the server. */
  run(...words: string[]): string {
    const env = { ...process.env, XDG_STATE_HOME: join(this.folder, 'state') };
    return execFileSync(BINARY, ['--config', 'crib.toml', ...words], { cwd: this.folder, env }).toString().trim();
  }

  /** A link that signs in once. */
  link(): string {
    return this.run('open', '--url', this.url);
  }

  token(name = 'local'): string {
    return name === 'local' ? this.run('token') : this.run('token', name);
  }

  /** Lets calls run, as whoever has the token. */
  async call(calls: { name: string; id?: string; arguments?: unknown }[], token = this.token()): Promise<any> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(this.url + '/v1/calls', { method: 'POST', headers, body: JSON.stringify({ calls }) });
    return answer.json();
  }

  /** Signs a browser in by a token. */
  async signIn(page: Page, token: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(this.url + '/v1/session', { method: 'POST', headers, body: '{}' });
    const [name, value] = answer.headers.get('set-cookie')!.split(';')[0]!.split('=') as [string, string];
    const { page_key } = (await answer.json()) as { page_key: string };
    // Nothing runs here that asks with half of one session and half of the other.
    const blank = this.url + '/blank';
    await page.route(blank, route => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto(blank);
    await page.context().addCookies([{ name, value, url: this.url }]);
    await page.evaluate(half => localStorage.setItem('toolcrib.page', half), page_key);
    await page.unroute(blank);
    await page.goto(this.url + '/');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  stop(): void {
    this.child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

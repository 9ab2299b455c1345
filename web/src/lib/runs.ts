// Agents, what they were asked, and what they tell while they work.
import { api, half, over, unheard, type Problem } from './api';
import type { RunEvent } from './told';
import type { paths } from './schema';

export type Agent = paths['/v1/agents']['get']['responses']['200']['content']['application/json']['agents'][number];
export type AgentTools = paths['/v1/agents/{name}']['get']['responses']['200']['content']['application/json'];
export interface Run {
  id: string;
  agent: string;
  thread: string;
  parent: string | null;
  state: 'running' | 'waiting' | 'ended';
  created_at: number;
  title?: string;
  input?: unknown[];
}
export interface Thread {
  id: string;
  agent: string;
  title: string;
  state: Run['state'];
  at: number;
}
/** What a person says of the tools: those that are called first, and those that are left out. */
export interface Choice {
  choices: string[];
  disabled: string[];
}

const PAGE = 100;
const KEY = 'toolcrib.tools';
const AGAIN_MS = 1000;

async function asked<T>(ask: () => Promise<{ data?: unknown; error?: unknown }>): Promise<T | Problem> {
  try {
    const { data, error } = await ask();
    return (data === undefined ? error : data) as T | Problem;
  } catch (error) {
    return unheard(error);
  }
}
export const isProblem = (answer: object): answer is Problem => 'detail' in answer && 'status' in answer;

export const agents = () => asked<{ agents: Agent[] }>(() => api.GET('/v1/agents'));
export const agentTools = (name: string) => asked<AgentTools>(() => api.GET('/v1/agents/{name}', { params: { path: { name } } }));
export const run = (id: string) => asked<Run>(() => api.GET('/v1/runs/{id}', { params: { path: { id } } }));
export const runsOf = (id: string) => asked<{ runs: Run[] }>(() => api.GET('/v1/threads/{id}', { params: { path: { id } } }));
export const stop = (id: string) => asked<Run>(() => api.POST('/v1/runs/{id}/cancel', { params: { path: { id } }, body: {} }));
export const begin = (agent: string, input: string, thread: string, choice: Choice) =>
  asked<Run>(() => api.POST('/v1/runs', { body: { agent, input, ...(thread && { thread }), ...choice } as never }));

/** One's own threads, the one first that went on last. */
export async function threads(): Promise<Thread[] | Problem> {
  const got = await asked<{ runs: Run[] }>(() => api.GET('/v1/runs', { params: { query: { limit: PAGE, titles: 'true' } } }));
  if (isProblem(got)) return got;
  const all = new Map<string, Thread>();
  for (const { thread, agent, title, state, parent, created_at } of got.runs) {
    if (!parent && !all.has(thread)) all.set(thread, { id: thread, agent, title: title ?? '', state, at: created_at });
  }
  return [...all.values()];
}

/** What a person said, of the items that a run was asked. */
export function words(input: unknown[] | undefined): string {
  const said: string[] = [];
  for (const item of (input ?? []) as { role?: string; content?: unknown }[]) {
    if (item.role !== 'user') continue;
    const parts = Array.isArray(item.content) ? item.content : [{ text: item.content }];
    for (const part of parts as { text?: unknown; type?: string }[]) said.push(typeof part.text === 'string' ? part.text : `[${part.type ?? 'something'}]`);
  }
  return said.join('\n\n');
}

/** Tells what a run tells until it has ended, over broken connections too. */
export async function follow(id: string, ends: AbortSignal, told: (events: RunEvent[]) => void): Promise<void> {
  let after = -1;
  let isOver = false;
  while (!isOver && !ends.aborted) {
    try {
      const address = new URL(`v1/runs/${encodeURIComponent(id)}/events${after < 0 ? '' : `?after=${after}`}`, location.href.split('#')[0]);
      const own = half.get();
      const answer = await fetch(address, { headers: { 'Toolcrib-Page': own ?? '' }, credentials: 'same-origin', cache: 'no-store', signal: ends });
      if (answer.status === 401) return over(own);
      if (answer.status === 404) return;
      if (!answer.ok || !answer.body) throw new Error(String(answer.status));
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const parts = (rest + value).split('\n\n');
        rest = parts.pop() ?? '';
        const all: RunEvent[] = [];
        for (const part of parts) {
          const data = part.split('\n').find(line => line.startsWith('data: '));
          if (data) all.push(JSON.parse(data.slice(6)));
        }
        after = all.at(-1)?.number ?? after;
        isOver ||= all.some(event => event.type === 'ended');
        if (all.length) told(all);
      }
    } catch {
      // The server is away, or the connection broke: what is missing is asked for again.
    }
    if (!isOver && !ends.aborted) await new Promise(next => setTimeout(next, AGAIN_MS));
  }
}

function kept(): Record<string, unknown> {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof all === 'object' && all !== null ? (all as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What is left out stays so for conversations that begin later, on this browser. */
export const leftOut = {
  get(agent: string): string[] {
    const names = kept()[agent];
    return Array.isArray(names) ? names.filter(name => typeof name === 'string') : [];
  },
  set: (agent: string, names: string[]) => localStorage.setItem(KEY, JSON.stringify({ ...kept(), [agent]: names })),
  clear: () => localStorage.removeItem(KEY),
};

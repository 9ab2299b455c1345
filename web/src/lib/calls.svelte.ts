// The calls of the record: those of all callers for an operator, else one's own.
import { api, half, over, unheard, type Problem } from './api';
import { isAdmin, session } from './session.svelte';
import type { paths } from './schema';

type Recorded = paths['/v1/record']['get']['responses']['200']['content']['application/json']['calls'][number];
export type Call = Omit<Recorded, 'tenant' | 'caller' | 'decided_by' | 'resolved_by'> & Partial<Recorded>;
export type Batch = paths['/v1/calls']['get']['responses']['200']['content']['application/json']['running'][number] & { caller?: string };

export interface Filter {
  state: string;
  tool: string;
  source: string;
  caller: string;
  batch: string;
  since: string;
}

export const SPANS: Record<string, number> = { '15m': 15, '1h': 60, '6h': 360, '24h': 1440 };
const PAGE = 100;

export interface Page {
  calls: Call[];
  cursor: string | null;
  /** Batches that run now: of this caller, of all for an operator. */
  running: Batch[];
}

export const hasRecord = () => session.who?.features.record === true;
export const batchOf = (key: string): string => key.slice(0, Math.max(0, key.lastIndexOf('-')));
export const millis = (time: string | null | undefined): number | null => (time ? Date.parse(time) : null);

function query(filter: Filter, cursor: string | null) {
  const minutes = SPANS[filter.since];
  const state = filter.state.split(',').filter(Boolean) as Call['state'][];
  return {
    limit: PAGE,
    ...(state.length && { state }),
    ...(filter.tool && { tool: filter.tool }),
    ...(filter.source && { source: filter.source }),
    ...(filter.batch && { batch: filter.batch }),
    ...(minutes && { since: new Date(Date.now() - minutes * 60_000).toISOString() }),
    ...(cursor && { cursor }),
  };
}

/** Pages that were searched and had nothing, one after the other. */
const MOST_EMPTY = 20;

/** The first page from here on that has something, as far as that is looked for. */
export async function page(filter: Filter, cursor: string | null): Promise<Page | Problem> {
  for (let empty = 0; ; empty++) {
    const got = await onePage(filter, cursor);
    if (!('calls' in got) || got.calls.length || !got.cursor || empty === MOST_EMPTY) return got;
    cursor = got.cursor;
  }
}

async function onePage(filter: Filter, cursor: string | null): Promise<Page | Problem> {
  try {
    const wanted = query(filter, cursor);
    if (!isAdmin() || !hasRecord()) {
      const own = await api.GET('/v1/calls', { params: { query: wanted } });
      return own.data ? { calls: own.data.calls, cursor: own.data.cursor ?? null, running: own.data.running } : own.error;
    }
    const { data, error } = await api.GET('/v1/running');
    if (!data) return error;
    const { running } = data;
    const all = await api.GET('/v1/record', { params: { query: { ...wanted, ...(filter.caller && { caller: filter.caller }) } } });
    return all.data ? { calls: all.data.calls, cursor: all.data.cursor ?? null, running } : all.error;
  } catch (error) {
    return unheard(error);
  }
}

export async function one(key: string): Promise<Call | Problem | null> {
  const wanted = { state: '', tool: '', source: '', caller: '', batch: batchOf(key), since: '' };
  const found = await page(wanted, null);
  return 'calls' in found ? (found.calls.find(call => call.key === key) ?? null) : found;
}

export async function cancel(batch: string): Promise<Problem | null> {
  try {
    const { error } = await api.DELETE(isAdmin() && hasRecord() ? '/v1/running/{id}' : '/v1/calls/{id}', { params: { path: { id: batch } } });
    return error ?? null;
  } catch (error) {
    return unheard(error);
  }
}

type Whole = paths['/v1/record/{id}']['get']['responses']['200']['content']['application/json'];
/** A call of whomever, with what it was about as long as that is kept. */
export async function whole(key: string): Promise<Whole | Problem> {
  try {
    const { data, error } = await api.GET('/v1/record/{id}', { params: { path: { id: key } } });
    return data ?? error;
  } catch (error) {
    return unheard(error);
  }
}

/** The record as a file, as far as the filters say. */
export async function file(filter: Filter, form: 'csv' | 'jsonl'): Promise<Blob | Problem> {
  try {
    const { limit: _, ...wanted } = query(filter, null);
    const address = new URLSearchParams({ form, ...(filter.caller && { caller: filter.caller }) });
    for (const [name, value] of Object.entries(wanted)) address.set(name, String(value));
    const own = half.get();
    const answer = await fetch(new URL(`v1/record/export?${address}`, location.href.split('#')[0]), { headers: { 'Toolcrib-Page': own ?? '' }, credentials: 'same-origin', cache: 'no-store' });
    if (answer.status === 401) over(own);
    return answer.ok ? await answer.blob() : ((await answer.json()) as Problem);
  } catch (error) {
    return unheard(error);
  }
}

export const ENDINGS = { succeeded: 'It took effect', failed: 'It had no effect', not_executed: 'It never started' } as const;

export async function resolve(key: string, ending: keyof typeof ENDINGS): Promise<Problem | null> {
  try {
    const { error } = await api.POST('/v1/record/{id}', { params: { path: { id: key } }, body: { ending } });
    return error ?? null;
  } catch (error) {
    return unheard(error);
  }
}

/** Calls that were made together, as they stand in the list. */
export function batches(calls: Call[]): { id: string; calls: Call[]; from: number; to: number }[] {
  const all: { id: string; calls: Call[]; from: number; to: number }[] = [];
  for (const call of calls) {
    const id = batchOf(call.key);
    const planned = millis(call.planned) ?? 0;
    const from = Math.min(planned, ...(call.phases ?? []).map(phase => phase.at_ms));
    // When one ended that was interrupted, nobody saw.
    const to = call.interrupted ? from : (millis(call.ended) ?? Date.now());
    const last = all.at(-1);
    if (last?.id === id) {
      last.calls.push(call);
      last.from = Math.min(last.from, from);
      last.to = Math.max(last.to, to);
    } else all.push({ id, calls: [call], from, to });
  }
  return all;
}

export function took(from: number, to: number): string {
  const ms = Math.max(0, to - from);
  if (ms < 1) return '< 1 ms';
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export const WORDS: Record<Call['state'], { word: string; dot: string }> = {
  running: { word: 'runs', dot: '' },
  succeeded: { word: 'done', dot: 'ok' },
  failed: { word: 'failed', dot: 'bad' },
  not_executed: { word: 'never started', dot: 'bad' },
  outcome_unknown: { word: 'unknown', dot: 'warn' },
  interrupted: { word: 'interrupted', dot: 'warn' },
};

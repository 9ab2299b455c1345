// The calls that wait for a person: those of all callers for an operator, else one's own.
import { api, unheard, type Problem } from './api';
import { session } from './session.svelte';
import type { paths } from './schema';

export type Ticket = paths['/v1/tickets/{id}']['get']['responses']['200']['content']['application/json'];
type Listed = paths['/v1/tickets']['get']['responses']['200']['content']['application/json']['tickets'][number];
export type Decision = { decision: 'approve' | 'deny'; reason?: string; content?: Record<string, unknown>; arguments?: Record<string, unknown> };

let rows = $state.raw<Listed[] | null>(null);
let isMore = $state(false);
let trouble = $state.raw<Problem | null>(null);
let asOf = $state(Date.now());

export const tickets = {
  get rows() {
    return rows;
  },
  get isMore() {
    return isMore;
  },
  get trouble() {
    return trouble;
  },
  /** When their times were told. */
  get asOf() {
    return asOf;
  },
};

export const mayDecide = () => session.who?.role === 'admin' || session.who?.role === 'approver';

export async function load(): Promise<void> {
  try {
    const { data, error } = await api.GET('/v1/tickets', { params: { query: { limit: 100 } } });
    trouble = error ?? null;
    if (!data) return;
    rows = [...data.tickets].sort((left, right) => left.lifetime_seconds - right.lifetime_seconds);
    isMore = !!data.cursor;
    asOf = Date.now();
  } catch (error) {
    trouble = unheard(error);
  }
}

const { rawJSON } = JSON as { rawJSON?: (literal: string) => unknown };

/** A number as it is written, where JavaScript would round it or spell it otherwise. */
function toTheLetter(_: string, value: unknown, context?: { source: string }): unknown {
  const isOther = typeof value === 'number' && context && String(value) !== context.source;
  return isOther && rawJSON ? rawJSON(context.source) : value;
}

export async function one(id: string): Promise<Ticket | Problem> {
  try {
    const { data, error } = await api.GET('/v1/tickets/{id}', { params: { path: { id } }, parseAs: 'text' });
    return data === undefined ? (error as Problem) : (JSON.parse(data, toTheLetter) as Ticket);
  } catch (error) {
    return unheard(error);
  }
}

/** What came of it, in a word; or why nothing did. */
export async function decide(id: string, body: Decision): Promise<{ outcome: string; text: string } | Problem> {
  try {
    const { data, error } = await api.POST('/v1/tickets/{id}', { params: { path: { id } }, body });
    return data ? { outcome: data.response.outcome, text: data.response.text } : error;
  } catch (error) {
    return unheard(error);
  }
}

/** No to several, of which there may be a hundred; what became of it, in words. */
export async function deny(all: string[], reason: string): Promise<string> {
  try {
    const { data, error } = await api.POST('/v1/tickets/deny', { body: { tickets: all.slice(0, 100), ...(reason && { reason }) } });
    if (!data) return `${error.title}: ${error.detail}`;
    const others = data.refused.length ? `; ${data.refused.length} waited no more, or are not yours to decide about: ${data.refused[0]!.detail}` : '';
    return `${data.denied.length} denied${others}`;
  } catch (error) {
    return unheard(error).detail;
  }
}

export function span(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

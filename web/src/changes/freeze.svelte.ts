// What does not run while somebody wants it so.
import { api, unheard, type Problem } from '../lib/api';
import { say } from './toast.svelte';
import type { paths } from '../lib/schema';

type Told = paths['/v1/freeze']['get']['responses']['200']['content']['application/json'];
type Body = paths['/v1/freeze']['post']['requestBody']['content']['application/json'];
export type Freeze = Told['freezes'][number];

let told = $state.raw<Told | null>(null);
let isAsked = $state(false);

export const freezes = {
  get rows() {
    return told?.freezes ?? [];
  },
  /** Why nobody can say what is frozen. */
  get unreadable() {
    return told?.unreadable ?? null;
  },
  /** Whether the dialog is open. */
  get isAsked() {
    return isAsked;
  },
};

export const ask = (is: boolean): void => void (isAsked = is);

export async function load(): Promise<void> {
  try {
    const { data } = await api.GET('/v1/freeze');
    if (data) told = data;
  } catch {
    // The page says by itself that it is not live.
  }
}

export async function freeze(body: Body): Promise<Problem | null> {
  try {
    const { data, error } = await api.POST('/v1/freeze', { body });
    if (!data) return error;
    told = data;
    const isNone = (body.scope === 'source' || body.scope === 'tool') && data.tools === 0;
    say({ text: isNone ? 'Frozen, and no tool that is there now is meant by it.' : 'Frozen.' });
    return null;
  } catch (error) {
    return unheard(error);
  }
}

export async function lift(id: number): Promise<void> {
  try {
    const { data, error } = await api.DELETE('/v1/freeze/{id}', { params: { path: { id: String(id) } } });
    if (data) told = data;
    say(data ? { text: 'Lifted: these calls run again.' } : { text: error!.detail, isBad: true });
  } catch (error) {
    say({ text: unheard(error).detail, isBad: true });
  }
}

const OF = { all: 'all calls', source: 'calls of tools of', caller: 'calls of the caller', tenant: 'calls of the tenant', tool: 'calls of' } as const;
/** What it is about, and of whom. */
export const words = (row: Freeze): string => `${OF[row.scope]}${row.name === null ? '' : ` ${row.name}`}${row.tenant === null ? '' : ` of ${row.tenant}`} that ${row.effects.join(' or ')}`;

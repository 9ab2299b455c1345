// The sources, as the last answer of the server had them, with what it told since.
import { api, unheard, type Problem } from './api';
import type { paths } from './schema';

type Told = paths['/v1/sources']['get']['responses']['200']['content']['application/json'];
export type Source = Told['sources'][number];
export type Off = Told['off'][number];
export type Drifted = paths['/v1/drift']['get']['responses']['200']['content']['application/json']['tools'][number];
export type Line = paths['/v1/sources/{id}/stderr']['get']['responses']['200']['content']['application/json']['lines'][number];

let rows = $state.raw<Source[] | null>(null);
let off = $state.raw<Off[]>([]);
let trouble = $state.raw<Problem | null>(null);
let asOf = $state.raw<Date | null>(null);

export const sources = {
  get rows() {
    return rows;
  },
  get off() {
    return off;
  },
  get trouble() {
    return trouble;
  },
  get asOf() {
    return asOf;
  },
};

export async function load(): Promise<void> {
  try {
    const { data, error } = await api.GET('/v1/sources');
    trouble = error ?? null;
    if (!data) return;
    rows = data.sources;
    off = data.off;
    asOf = new Date();
  } catch (error) {
    trouble = unheard(error);
  }
}

export async function reload(id: string): Promise<Problem | null> {
  try {
    const { data, error } = await api.POST('/v1/sources/{id}/reload', { params: { path: { id } }, body: {} });
    if (data) rows = rows?.map(row => (row.id === id ? data.source : row)) ?? null;
    return error ?? null;
  } catch (error) {
    return unheard(error);
  }
}

export const STATES: Record<Source['state'], { word: string; dot: string }> = {
  ready: { word: 'ready', dot: 'ok' },
  stale: { word: 'stale', dot: 'warn' },
  failed: { word: 'failed', dot: 'bad' },
  starting: { word: 'starting', dot: '' },
};

/** The address of the panel of a source. One may have the name of the form that adds another. */
export const placeOf = (id: string): string[] => (id === 'add' ? ['sources', id, 'about'] : ['sources', id]);

export const millis = (us: number | null): string => (us === null ? '–' : us < 1000 ? '< 1 ms' : us < 10_000_000 ? `${Math.round(us / 1000)} ms` : `${Math.round(us / 1_000_000)} s`);

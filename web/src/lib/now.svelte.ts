// What needs a person, as the last answer of the server had it.
import { api, unheard, type Problem } from './api';
import type { paths } from './schema';

type Told = paths['/v1/now']['get']['responses']['200']['content']['application/json'];

let told = $state.raw<Told | null>(null);
let trouble = $state.raw<Problem | null>(null);
let asOf = $state.raw<Date | null>(null);

export const now = {
  get told() {
    return told;
  },
  get trouble() {
    return trouble;
  },
  get asOf() {
    return asOf;
  },
  /** Calls that wait. */
  get waiting() {
    return told?.tickets.rows.length ?? 0;
  },
  /** How much needs a person. */
  get count() {
    return (told?.tickets.rows.length ?? 0) + (told?.unknown?.rows.length ?? 0);
  },
};

export async function load(): Promise<void> {
  try {
    const { data, error } = await api.GET('/v1/now');
    trouble = error ?? null;
    if (!data) return;
    told = data;
    asOf = new Date();
  } catch (error) {
    trouble = unheard(error);
  }
}

// What holds over the file: fields that are changed while it serves, for the operator.
import { api, unheard, type Problem } from '../lib/api';
import { isAdmin } from '../lib/session.svelte';
import { say } from './toast.svelte';
import type { paths } from '../lib/schema';

type Told = paths['/v1/overlay']['get']['responses']['200']['content']['application/json'];
export type Change = Told['rows'][number];
export type Edited = paths['/v1/overlay']['post']['responses']['200']['content']['application/json'];
export type Wanted = { path: string; value?: unknown; unset?: boolean; row?: number };
/** What is to be changed, in words of what is done: `calculate is off`. */
export interface Intent {
  changes: Wanted[];
  done: string;
  why?: string;
  until?: string;
  /** For how many hours it is meant, before the person says otherwise. */
  hours?: number;
  /** Of what the person has seen; what is there now, if left out. */
  version?: number;
}

let told = $state.raw<Told | null>(null);
let trouble = $state.raw<Problem | null>(null);
/** What the person is asked before it is done. */
let question = $state.raw<{ intent: Intent; relaxed: Edited['effects']['relaxed'] } | { intent: Intent; theirs: Change[] } | null>(null);

export const overlay = {
  get rows() {
    return told?.rows ?? null;
  },
  get trouble() {
    return trouble;
  },
  get question() {
    return question;
  },
  /** Those that hold and do not stand in the file. */
  get count() {
    return told?.rows.filter(holds).length ?? 0;
  },
};

export const holds = (row: Change): boolean => row.state === 'in_force' || row.state === 'file_differs';
export const leave = (): void => void (question = null);

/** Why somebody cannot change anything; empty: it can. */
export const why = (): string => (!isAdmin() ? 'Your role may look, and not change it.' : trouble ? trouble.detail : '');

const key = (text: string): string => (/^[A-Za-z0-9_-]+$/.test(text) ? text : JSON.stringify(text));
export const path = (tool: string, field: string): string => `tool.${key(tool)}.${field}`;
export const rowOf = (at: string): Change | undefined => told?.rows.findLast(row => row.path === at && holds(row));
export const prefix = (tool: string): string => `tool.${key(tool)}.`;

export async function load(): Promise<void> {
  if (!isAdmin()) return;
  try {
    const { data, error } = await api.GET('/v1/overlay');
    trouble = error ?? null;
    if (data) told = data;
  } catch (error) {
    trouble = unheard(error);
  }
}

async function post(intent: Intent, isTrial: boolean): Promise<Edited | Problem> {
  const { changes, why, until, version } = intent;
  const body = { expect: version ?? told?.version ?? 0, changes: changes as never, dry_run: isTrial, ...(why && { why }), ...(until && { until }) };
  try {
    const { data, error } = await api.POST('/v1/overlay', { body });
    return data ?? error;
  } catch (error) {
    return unheard(error);
  }
}

/** Changes it: what is stricter at once, and what is laxer once the person has said yes. */
export async function act(wanted: Intent): Promise<void> {
  question = null;
  if (!told) await load();
  const intent: Intent = { ...wanted, version: told?.version ?? 0 };
  const tried = await post(intent, true);
  if (!('rows' in tried)) return refused(intent, tried);
  if (tried.problems.length) return say({ text: tried.problems.map(problem => problem.message).join('\n'), isBad: true });
  if (tried.effects.relaxed.length) question = { intent, relaxed: tried.effects.relaxed };
  else await force(intent);
}

/** The same without a question. */
export async function force(intent: Intent): Promise<void> {
  question = null;
  const before = told?.rows ?? [];
  const came = await post(intent, false);
  if (!('rows' in came)) return refused(intent, came);
  told = came;
  const back = inverse(intent.changes, before, came);
  if (came.in_force === false) say({ text: `It is kept, and not in force: ${came.because.join('; ')}`, isBad: true });
  else if (!back) say({ text: intent.done });
  else say({ text: intent.done, undo: () => force({ ...back, done: 'Taken back.', version: came.version }) });
}

/** What leads back to the rows of before, with their ends; nothing where those were not alike. */
function inverse(changes: Wanted[], before: Change[], after: Edited): Omit<Intent, 'done'> | undefined {
  const made = after.rows.filter(row => after.made.includes(row.id));
  const gone = before.filter(row => !after.rows.some(other => other.id === row.id));
  const places = [...new Set(changes.map(change => change.path))];
  const olds = gone.filter(row => places.includes(row.path));
  const [first] = olds;
  if (olds.some(row => row.until !== first!.until || row.why !== first!.why)) return undefined;
  const back = places.flatMap((at): Wanted[] => {
    const old = olds.filter(row => row.path === at).map(row => ({ path: at, value: row.value }));
    return old.length ? old : made.filter(row => row.path === at).map(row => ({ path: at, unset: true, row: row.id }));
  });
  return back.length ? { changes: back, ...(first?.why && { why: first.why }), ...(first?.until && { until: first.until }) } : undefined;
}

async function refused(intent: Intent, problem: Problem): Promise<void> {
  if (problem.type !== 'urn:toolcrib:problem:version-conflict') return say({ text: problem.detail, isBad: true });
  const theirs = (problem as Problem & { overlay?: Told }).overlay;
  if (theirs) told = theirs;
  else await load();
  question = { intent, theirs: (told?.rows ?? []).filter(row => intent.changes.some(change => change.path === row.path)) };
}

/** What somebody wants as a source: one of these. */
export type Wish = { snippet?: string; document?: string; card?: string; server?: string };

/** Adds sources over the file, or tries it. `starts`: the programs, word for word, as the person has seen them. */
export async function addSources(wish: Wish, starts: string[][], why: string, isTrial: boolean): Promise<Edited | Problem> {
  if (!told) await load();
  try {
    const body = { ...wish, starts, expect: told?.version ?? 0, dry_run: isTrial, ...(why && { why }) };
    const { data, error } = await api.POST('/v1/sources', { body });
    if (data && !isTrial) told = data;
    // Of another version the person looks again.
    if (error?.type === 'urn:toolcrib:problem:version-conflict') await load();
    return data ?? error;
  } catch (error) {
    return unheard(error);
  }
}

export const undo = (rows: Pick<Change, 'path' | 'id'>[]): Promise<void> =>
  act({ changes: rows.map(({ path, id }) => ({ path, unset: true, row: id })), done: rows.length === 1 ? 'Taken back.' : `${rows.length} changes taken back.` });

export async function exported(form: 'toml' | 'patch'): Promise<{ text: string; masked: boolean } | Problem> {
  try {
    const { data, error } = await api.GET('/v1/overlay/export', { params: { query: { form } } });
    return data ?? error;
  } catch (error) {
    return unheard(error);
  }
}

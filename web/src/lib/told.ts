// What a run has told so far, as it is shown. Nothing is changed in place: what is the same object
// is drawn no second time.

export type RunEvent = { type: string; number?: number } & Record<string, any>;
export type Outcome = 'done' | 'failed' | 'denied' | 'pending';
export interface ToolCall {
  kind: 'call';
  id: string;
  name: string;
  source: string;
  arguments: string;
  outcome: Outcome | null;
  text: string;
  /** Where a person is asked. */
  ticket: string | null;
  progress: string;
}
export type Part =
  | { kind: 'words' | 'thought' | 'note' | 'fault'; text: string }
  | ToolCall
  | { kind: 'child'; run: string; agent: string; task: string; told: Told };
export interface Reference {
  number: number;
  id: string;
  title?: string;
  url?: string;
  cited: boolean;
}
export interface Told {
  parts: Part[];
  /** Where the turn began that goes on. */
  turn: number;
  references: Reference[];
  checks: { name: string; outcome: string; reason: string }[];
  isOver: boolean;
}

/** Parts of one run that are kept: the first ones go. */
const MOST = 2000;
export const NOTHING: Told = { parts: [], turn: 0, references: [], checks: [], isOver: false };
const STOPS: Record<string, string> = { cancelled: 'Stopped.', length: 'The answer was cut at the limit of the model.', withheld: 'The answer was held back: a check found it wrong.' };
const LIMITS = ['turns', 'calls', 'tokens', 'cost', 'time'];

function added(told: Told, ...parts: Part[]): Told {
  const all = [...told.parts, ...parts];
  const gone = Math.max(0, all.length - MOST);
  return { ...told, parts: all.slice(gone), turn: Math.max(0, told.turn - gone) };
}
function said(told: Told, kind: 'words' | 'thought', text: string): Told {
  const last = told.parts.at(-1);
  if (last?.kind !== kind || told.parts.length === told.turn) return added(told, { kind, text });
  return { ...told, parts: [...told.parts.slice(0, -1), { kind, text: last.text + text }] };
}
function changed(told: Told, at: number, part: Part): Told {
  return at < 0 ? told : { ...told, parts: told.parts.with(at, part) };
}

function done(told: Told, response: Record<string, any>): Told {
  const at = told.parts.findLastIndex(part => part.kind === 'call' && part.id === response.id);
  const call = told.parts[at];
  if (call?.kind !== 'call') return told;
  const isPending = response.outcome === 'pending';
  const ticket = isPending && typeof response.ticket === 'string' ? response.ticket : null;
  return changed(told, at, { ...call, outcome: response.outcome, text: isPending ? '' : response.text, ticket, progress: '' });
}

function childBegan(told: Told, { run, agent, task }: RunEvent): Told {
  const child: Part = { kind: 'child', run, agent, task, told: NOTHING };
  // In another process it tells again what it told before.
  const at = told.parts.findIndex(part => part.kind === 'child' && part.run === run);
  return at < 0 ? added(told, child) : changed(told, at, child);
}

function ended(told: Told, end: Record<string, any>): Told {
  let now = { ...told, isOver: true, references: end.references ?? [], checks: end.checks ?? [] };
  if (end.fault) return added(now, { kind: 'fault', text: String(end.fault.message) });
  const last = told.parts.findLast(part => part.kind === 'words');
  // A limit, or a tool that took over, has words that the model did not say.
  if (end.text && !(last?.kind === 'words' && last.text.trimEnd().endsWith(String(end.text).trimEnd()))) now = { ...added(now, { kind: 'words', text: end.text }), isOver: true };
  const why = STOPS[end.stop] ?? (LIMITS.includes(end.stop) ? `It ended by its budget: ${end.stop}.` : '');
  return why ? added(now, { kind: 'note', text: why }) : now;
}

export function hear(told: Told, event: RunEvent): Told {
  switch (event.type) {
    case 'turn.started':
      return { ...told, turn: told.parts.length };
    case 'text.delta':
      return said(told, 'words', event.delta);
    case 'reasoning.delta':
      return said(told, 'thought', event.delta);
    case 'turn.retracted':
      return { ...told, parts: told.parts.slice(0, told.turn) };
    case 'calls': {
      const calls = (event.calls as Record<string, any>[]).map(({ id, name, source, arguments: given }): Part => ({ kind: 'call', id, name, source: source ?? '', arguments: given ?? '', outcome: null, text: '', ticket: null, progress: '' }));
      return added(told, ...calls);
    }
    case 'call.progress': {
      const at = told.parts.findLastIndex(part => part.kind === 'call' && part.outcome === null);
      const call = told.parts[at];
      return call?.kind === 'call' ? changed(told, at, { ...call, progress: event.text }) : told;
    }
    case 'call.done':
      return done(told, event.response);
    case 'notice':
      return added(told, { kind: 'note', text: event.text });
    case 'thread.compacted':
      return added(told, { kind: 'note', text: 'What was said long ago is summed up for the model from here on.' });
    case 'child.started':
      return childBegan(told, event);
    case 'child.event': {
      const at = told.parts.findLastIndex(part => part.kind === 'child' && part.run === event.run);
      const child = told.parts[at];
      return child?.kind === 'child' ? changed(told, at, { ...child, told: hear(child.told, event.event) }) : told;
    }
    case 'ended':
      return ended(told, event.end);
    default:
      return told;
  }
}

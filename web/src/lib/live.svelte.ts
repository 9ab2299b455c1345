// What the server tells as it happens. Of all tabs of a browser one follows it and tells the others,
// since a browser opens few connections to a host.
import { half, over } from './api';
import { session } from './session.svelte';

/** `reset`: something may have been missed, so what is shown is asked for again. */
export type Topic = 'call' | 'ticket' | 'source' | 'catalog' | 'config' | 'overlay' | 'freeze' | 'reset';
type Heard = { name: Topic; data: unknown };
type Word = { say: 'heard'; all: Heard[]; cursor: string } | { say: 'standing'; isLive: boolean; since: number } | { say: 'who' } | { say: 'again' };

const SILENT_MS = 25_000;
const LONGEST_MS = 30_000;
const LOCK = 'toolcrib-events';

let isLive = $state(false);
let since = $state(Date.now());
let nextTry = $state<number | null>(null);
const listeners = new Set<(heard: Heard) => void>();

export const live = {
  get isLive() {
    return isLive;
  },
  /** Since when it is as it is. */
  get since() {
    return since;
  },
  get nextTry() {
    return nextTry;
  },
};

/** Has a function called for what happens, at most once in `often` milliseconds. */
export function whenTold(topics: Topic[], often: number, act: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const listener = ({ name }: Heard) => {
    if ((name !== 'reset' && !topics.includes(name)) || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        last = Date.now();
        act();
      },
      Math.max(0, last + often - Date.now()),
    );
  };
  listeners.add(listener);
  return () => {
    clearTimeout(timer);
    listeners.delete(listener);
  };
}

function hear(all: Heard[]): void {
  for (const heard of all) for (const listener of listeners) listener(heard);
}

function stand(now: boolean): void {
  if (now === isLive) return;
  isLive = now;
  since = Date.now();
}

let cursor = '';
let wake: () => void = () => {};
let channel: BroadcastChannel | undefined;
let leads = false;
const say = (word: Word) => channel?.postMessage(word);

/** Goes on with what was given up. */
export function again(): void {
  if (leads) wake();
  else say({ say: 'again' });
}

export function start(): () => void {
  const ends = new AbortController();
  channel = new BroadcastChannel(LOCK);
  channel.onmessage = ({ data: word }: MessageEvent<Word>) => {
    if (word.say === 'heard') {
      cursor = word.cursor;
      hear(word.all);
    } else if (word.say === 'standing') {
      stand(word.isLive);
      since = word.since;
    } else if (leads && word.say === 'who') say({ say: 'standing', isLive, since });
    else if (leads) wake();
  };
  say({ say: 'who' });
  const lead = async () => {
    leads = true;
    await follow(ends.signal);
    leads = false;
  };
  // Only a page that came encrypted or from this machine has locks.
  if (navigator.locks) navigator.locks.request(LOCK, { signal: ends.signal }, lead).catch(() => {});
  else void lead();
  const looked = () => {
    if (!document.hidden && !isLive) again();
  };
  document.addEventListener('visibilitychange', looked);
  addEventListener('online', looked);
  return () => {
    document.removeEventListener('visibilitychange', looked);
    removeEventListener('online', looked);
    ends.abort();
    wake();
    channel?.close();
    channel = undefined;
    stand(false);
  };
}

/** Follows for as long as this tab does it, over broken connections too. */
async function follow(ends: AbortSignal): Promise<void> {
  let pause = 1000;
  while (!ends.aborted && session.phase === 'in') {
    try {
      await once(ends, () => (pause = 1000));
    } catch {
      // The server is away, or the connection broke: another one is tried.
    }
    stand(false);
    say({ say: 'standing', isLive, since });
    if (ends.aborted || session.phase !== 'in') return;
    const wait = pause * (0.5 + Math.random() / 2);
    pause = Math.min(LONGEST_MS, pause * 2);
    nextTry = Date.now() + wait;
    await new Promise<void>(done => {
      const timer = setTimeout(done, wait);
      wake = () => {
        clearTimeout(timer);
        done();
      };
    });
    nextTry = null;
  }
}

async function once(ends: AbortSignal, began: () => void): Promise<void> {
  // Nobody knows what came before the first event.
  const isFirst = !cursor;
  const stop = new AbortController();
  const abort = () => stop.abort();
  ends.addEventListener('abort', abort);
  let timer = setTimeout(abort, SILENT_MS);
  try {
    const address = new URL(`v1/events${cursor ? `?after=${encodeURIComponent(cursor)}` : ''}`, location.href.split('#')[0]);
    const own = half.get();
    const answer = await fetch(address, { headers: { 'Toolcrib-Page': own ?? '' }, credentials: 'same-origin', cache: 'no-store', signal: stop.signal });
    if (answer.status === 401) over(own);
    if (!answer.ok || !answer.body) throw new Error(String(answer.status));
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(abort, SILENT_MS);
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      take(parts, () => {
        began();
        if (isFirst) tell([{ name: 'reset', data: null }]);
      });
    }
  } finally {
    clearTimeout(timer);
    ends.removeEventListener('abort', abort);
    stop.abort();
  }
}

function take(parts: string[], began: () => void): void {
  const all: Heard[] = [];
  for (const part of parts) {
    const fields = Object.fromEntries(part.split('\n').map(line => line.split(/: (.*)/s, 2)));
    cursor = fields.id ?? cursor;
    if (fields.event === 'hello') {
      began();
      stand(true);
      say({ say: 'standing', isLive, since });
    } else if (fields.event && fields.event !== 'beat') all.push({ name: fields.event, data: JSON.parse(fields.data ?? 'null') });
  }
  if (all.length) tell(all);
}

/** Tells this tab and the others. */
function tell(all: Heard[]): void {
  hear(all);
  say({ say: 'heard', all, cursor });
}

// Who is signed in. A code in the address is spent at once and leaves no trace in the history.
import { api, half, unheard, whenOver, type Problem } from './api';
import type { paths } from './schema';
import { at } from './route.svelte';
import { leftOut } from './runs';

export type Session = paths['/v1/session']['get']['responses']['200']['content']['application/json'];

let who = $state.raw<Session | null>(null);
let phase = $state<'asking' | 'in' | 'out' | 'over'>('asking');
let trouble = $state.raw<Problem | null>(null);

export const session = {
  get who() {
    return who;
  },
  /** `over`: there was a session, and what is on the page stays. */
  get phase() {
    return phase;
  },
  get trouble() {
    return trouble;
  },
};

export const isAdmin = () => who?.role === 'admin';

whenOver(() => {
  half.clear();
  if (phase === 'in') phase = 'over';
});

function codeOfAddress(): string | null {
  const found = /^#login=([0-9a-f]{1,64})$/.exec(location.hash);
  if (!location.hash.startsWith('#login=')) return null;
  history.replaceState(null, '', at([]));
  dispatchEvent(new HashChangeEvent('hashchange'));
  return found?.[1] ?? '';
}

async function signIn(code: string | null): Promise<boolean> {
  const { data, error } = await api.POST('/v1/session', { body: code === null ? {} : { code } });
  if (!data) {
    // Without a code it was only a try: a server that asks for no token lets everybody in.
    if (code !== null) trouble = error ?? null;
    return false;
  }
  half.set(data.page_key);
  who = data;
  phase = 'in';
  trouble = null;
  return true;
}

async function known(): Promise<boolean> {
  const own = half.get();
  if (!own) return false;
  const { data } = await api.GET('/v1/session');
  if (!data) {
    // Another tab may have signed in meanwhile.
    if (half.get() === own) half.clear();
    return false;
  }
  who = data;
  phase = 'in';
  return true;
}

export async function begin(): Promise<void> {
  const code = codeOfAddress();
  try {
    const isIn = code === null ? (await known()) || (await signIn(null)) : (await signIn(code)) || (await known());
    if (!isIn && phase !== 'over') phase = 'out';
  } catch (error) {
    trouble = unheard(error);
    if (phase === 'asking') phase = 'out';
  }
}

// A link that is opened in a tab that is open already.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#login=')) void begin();
});

export async function signOut(): Promise<void> {
  try {
    await api.DELETE('/v1/session');
  } finally {
    half.clear();
    leftOut.clear();
    // Nothing that this person was shown stays for the next.
    location.reload();
  }
}

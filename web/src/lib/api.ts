// The REST door, as `docs/openapi.json` describes it.
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './schema';

export type Problem = components['schemas']['Problem'];

const KEY = 'toolcrib.page';

/** The half of the session that is bound to this port; the browser sends the other. */
export const half = {
  get: (): string | null => localStorage.getItem(KEY),
  set: (value: string) => localStorage.setItem(KEY, value),
  clear: () => localStorage.removeItem(KEY),
};

let ended: () => void = () => {};
/** Is told when a request finds that the session has ended. */
export function whenOver(tell: () => void): void {
  ended = tell;
}
/** A request with this half found that its session has ended. One that began since is another person's, or has other rights. */
export function over(used: string | null): void {
  const own = half.get();
  if (own === null || own === used) ended();
  else location.reload();
}

const session: Middleware = {
  onRequest({ request }) {
    const page = half.get();
    if (page) request.headers.set('Toolcrib-Page', page);
    return request;
  },
  onResponse({ request, response, schemaPath }) {
    if (response.status === 401 && schemaPath !== '/v1/session') over(request.headers.get('Toolcrib-Page'));
  },
};

export const api = createClient<paths>({ baseUrl: new URL('.', location.href.split('#')[0]).href, credentials: 'same-origin', cache: 'no-store' });
api.use(session);

/** A problem of ours for an answer that never came. */
export function unheard(error: unknown): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return { type: 'urn:toolcrib:problem:unavailable', title: 'The server does not answer', status: 0, detail } as Problem;
}

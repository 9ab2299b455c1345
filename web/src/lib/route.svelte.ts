// Where we are. All of it stands behind `#`, so that the server has one document and the page works
// behind any prefix.

interface Place {
  view: string;
  rest: string[];
  query: URLSearchParams;
}

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [view = '', ...rest] = path.split('/').map(segment => decodeURIComponent(segment.replace(/%(?![0-9A-Fa-f]{2})/g, '%25')));
  return { view, rest, query: new URLSearchParams(query) };
}

function safe(): Place {
  try {
    return read();
  } catch {
    // Bytes that are no text.
    return { view: '', rest: [], query: new URLSearchParams() };
  }
}

let here = $state.raw(safe());
addEventListener('hashchange', () => (here = safe()));

export const place = {
  get view() {
    return here.view;
  },
  get rest() {
    return here.rest;
  },
  get query() {
    return here.query;
  },
};

/** The address of a view. */
export function at(segments: string[], query: Record<string, string> | URLSearchParams = {}): string {
  const words = new URLSearchParams(query);
  for (const [key, value] of [...words]) if (!value) words.delete(key);
  const text = words.toString();
  return '#/' + segments.map(encodeURIComponent).join('/') + (text ? '?' + text : '');
}

export function go(segments: string[], query: Record<string, string> | URLSearchParams = {}): void {
  location.hash = at(segments, query);
}

/** The same without an entry in the history: for what changes with every key. */
export function replace(segments: string[], query: Record<string, string> | URLSearchParams = {}): void {
  history.replaceState(null, '', at(segments, query));
  here = safe();
}

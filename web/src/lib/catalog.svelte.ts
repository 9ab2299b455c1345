// All tools, as the last answer of the server had them.
import { api, unheard, type Problem } from './api';

export interface Row {
  name: string;
  source: string;
  summary: string;
  category: string | null;
  effect: 'read' | 'write' | 'destroy';
  /** `on`, else the rule that keeps it out. */
  state: string;
  because: string;
  tokens: number | null;
  stale: boolean;
  /** What is searched in. */
  text: string;
}

let rows = $state.raw<Row[] | null>(null);
let sources = $state.raw<string[]>([]);
let trouble = $state.raw<Problem | null>(null);
let asOf = $state.raw<Date | null>(null);
let isCounted = $state(true);
let tag = '';

export const catalog = {
  get rows() {
    return rows;
  },
  get sources() {
    return sources;
  },
  get trouble() {
    return trouble;
  },
  get asOf() {
    return asOf;
  },
  /** Whether tokens were counted, and not guessed by the length. */
  get isCounted() {
    return isCounted;
  },
};

export async function load(): Promise<void> {
  try {
    const { data, error, response } = await api.GET('/v1/catalog', { params: { query: { shape: 'columns' } }, headers: tag ? { 'If-None-Match': tag } : {} });
    if (response.status === 304) {
      asOf = new Date();
      return;
    }
    trouble = error ?? null;
    if (!data) return;
    tag = response.headers.get('etag') ?? '';
    const { name, source, summary, category, effect, state, because, tokens, stale } = data.columns;
    rows = name.map((own, at) => ({
      name: own,
      source: source[at]!,
      summary: summary[at]!,
      category: category[at] ?? null,
      effect: effect[at]!,
      state: state[at]!,
      because: because[at]!,
      tokens: tokens[at] ?? null,
      stale: stale[at]!,
      text: `${own} ${summary[at]} ${category[at] ?? ''}`.toLowerCase(),
    }));
    sources = data.sources;
    isCounted = data.tokens_counted;
    asOf = new Date();
  } catch (error) {
    trouble = unheard(error);
  }
}

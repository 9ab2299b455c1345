// A part of Markdown, for what a model says: paragraphs, lists, code, tables, quotes, and words that
// stand out. It becomes a tree of texts and never HTML; there are no links and no pictures, so what
// looks like one is shown as it is written. Each letter is looked at a bounded number of times.

export interface Span {
  kind: 'text' | 'code' | 'strong' | 'em';
  text: string;
}
export type Block =
  | { kind: 'text' | 'title' | 'quote'; spans: Span[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; isOrdered: boolean; items: { depth: number; mark: string; spans: Span[] }[] }
  | { kind: 'table'; head: Span[][]; rows: Span[][][] };

const MOST_BLOCKS = 2000;
const MOST_CELLS = 50;
const DEEPEST = 4;
const ITEM = /^( {0,12})(?:([-*+])|(\d{1,9})[.)]) +(?=\S)/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEAD = /^ {0,3}#{1,6} +/;
const RULE = /^ *\|?( *:?-+:? *\|)+( *:?-+:? *)?$/;

/** The words of a line, with what stands out among them. */
export function spans(text: string): Span[] {
  const all: Span[] = [];
  let plain = '';
  const put = (kind: Span['kind'], inner: string) => {
    if (plain) all.push({ kind: 'text', text: plain });
    plain = '';
    all.push({ kind, text: inner });
  };
  // Where a mark has no other half once, it has none further on.
  const missing = new Set<string>();
  for (let at = 0; at < text.length; ) {
    const mark = text.startsWith('**', at) ? '**' : '`*'.includes(text[at]!) ? text[at]! : '';
    const begin = at + mark.length;
    const end = mark && !missing.has(mark) ? text.indexOf(mark, begin) : -1;
    if (mark && end < 0) missing.add(mark);
    const isWord = mark === '`' || (text[begin] !== ' ' && text[end - 1] !== ' ');
    if (end > begin && isWord) {
      put(mark === '`' ? 'code' : mark === '**' ? 'strong' : 'em', text.slice(begin, end));
      at = end + mark.length;
    } else {
      plain += mark || text[at];
      at += mark.length || 1;
    }
  }
  if (plain) all.push({ kind: 'text', text: plain });
  return all;
}

const cells = (line: string) =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|', MOST_CELLS)
    .map(cell => spans(cell.trim()));

export function blocks(text: string): Block[] {
  const lines = text.split('\n');
  const all: Block[] = [];
  let at = 0;
  const isPlain = (line: string | undefined) => !!line?.trim() && !ITEM.test(line) && !FENCE.test(line) && !HEAD.test(line) && !line.startsWith('>');
  const code = (fence: string) => {
    const from = ++at;
    while (at < lines.length && !lines[at]!.trim().startsWith(fence)) at++;
    all.push({ kind: 'code', text: lines.slice(from, at++).join('\n') });
  };
  const list = () => {
    const items: { depth: number; mark: string; spans: Span[] }[] = [];
    const isOrdered = !!ITEM.exec(lines[at]!)![3];
    for (let found; at < lines.length && (found = ITEM.exec(lines[at]!)); ) {
      let own = lines[at++]!.slice(found[0].length);
      while (isPlain(lines[at]) && lines[at]!.startsWith(' ')) own += ' ' + lines[at++]!.trim();
      items.push({ depth: Math.min(DEEPEST, Math.floor(found[1]!.length / 2)), mark: found[3] ? `${found[3]}.` : '•', spans: spans(own) });
    }
    all.push({ kind: 'list', isOrdered, items });
  };
  while (at < lines.length && all.length < MOST_BLOCKS) {
    const line = lines[at]!;
    const fence = FENCE.exec(line)?.[1];
    if (!line.trim()) at++;
    else if (fence) code(fence);
    else if (HEAD.test(line)) all.push({ kind: 'title', spans: spans(lines[at++]!.replace(HEAD, '')) });
    else if (ITEM.test(line)) list();
    else if (line.startsWith('>')) {
      let own = '';
      while (lines[at]?.startsWith('>')) own += lines[at++]!.slice(1).trim() + ' ';
      all.push({ kind: 'quote', spans: spans(own.trim()) });
    } else if (line.includes('|') && RULE.test(lines[at + 1] ?? '')) {
      const head = cells(line);
      const rows: Span[][][] = [];
      for (at += 2; lines[at]?.includes('|'); at++) rows.push(cells(lines[at]!));
      all.push({ kind: 'table', head, rows });
    } else {
      const from = at++;
      while (isPlain(lines[at]) && !(lines[at]!.includes('|') && RULE.test(lines[at + 1] ?? ''))) at++;
      all.push({ kind: 'text', spans: spans(lines.slice(from, at).join('\n')) });
    }
  }
  if (at < lines.length) all.push({ kind: 'code', text: lines.slice(at).join('\n') });
  return all;
}

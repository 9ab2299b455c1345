// What a form shows of a schema. No pattern is compiled here and no code is made of it: whether
// arguments fit is for the server to say.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = { [key: string]: any };
export type Kind = 'object' | 'array' | 'map' | 'choice' | 'enum' | 'string' | 'text' | 'number' | 'integer' | 'boolean' | 'null' | 'raw';

const DEPTH = 6;
const LINKS = 16;
/** Fields of an object, and values of an enumeration, that are shown. */
export const MOST_FIELDS = 500;
export const MOST_VALUES = 200;

export const isObject = (value: unknown): value is Record<string, any> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema behind its references within the document. */
export function behind(root: Schema, schema: unknown): Schema {
  let at: Schema = isObject(schema) ? schema : {};
  for (let left = LINKS; left > 0 && typeof at.$ref === 'string'; left--) {
    if (!at.$ref.startsWith('#')) return {};
    let found: any = root;
    for (const part of at.$ref.slice(1).split('/').filter(Boolean)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      found = found !== null && typeof found === 'object' && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    const { $ref: _, ...rest } = at;
    at = { ...(isObject(found) ? found : {}), ...rest };
  }
  return typeof at.$ref === 'string' ? {} : at;
}

export function kind(schema: Schema, depth: number): Kind {
  if (depth > DEPTH) return 'raw';
  if ('const' in schema || Array.isArray(schema.enum)) return 'enum';
  if (Array.isArray(schema.anyOf ?? schema.oneOf) && !schema.type) return 'choice';
  let type = schema.type;
  if (Array.isArray(type)) {
    const others = type.filter((word: unknown) => word !== 'null');
    if (others.length !== 1) return 'raw';
    type = others[0];
  }
  if (schema.allOf || schema.not || schema.if) return 'raw';
  if (type === 'object' || (!type && isObject(schema.properties))) {
    if (isObject(schema.properties)) return 'object';
    return isObject(schema.additionalProperties) ? 'map' : 'raw';
  }
  if (type === 'array') return isObject(schema.items) ? 'array' : 'raw';
  if (type === 'string') return (schema.maxLength ?? 0) > 400 || schema.contentMediaType ? 'text' : 'string';
  return ['number', 'integer', 'boolean', 'null'].includes(type) ? type : 'raw';
}

const INPUTS: Record<string, string> = { date: 'date', time: 'time', email: 'email', password: 'password' };
export const input = (schema: Schema): string => INPUTS[schema.format] ?? 'text';

/** What a field has that was just added. */
export function empty(root: Schema, schema: unknown): Json | undefined {
  const at = behind(root, schema);
  if ('default' in at) return at.default;
  if ('const' in at) return at.const;
  const begin: Partial<Record<Kind, Json>> = { object: {}, map: {}, array: [], boolean: false, null: null, string: '', text: '' };
  return begin[kind(at, 0)];
}

export const word = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

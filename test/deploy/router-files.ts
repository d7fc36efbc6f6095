import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/process.ts';

/** A configuration as a router reads it. */
// biome-ignore lint/suspicious/noExplicitAny: each router has a form of its own, which the tests hold against its facts.
export type RouterFile = Readonly<Record<string, any>>;

/** One of the YAML files of `deploy/router/`. */
export const readRouterFile = (file: string): RouterFile =>
  parse(readFileSync(join(ROOT, 'deploy/router', file), 'utf8'));

/** What the subgraph must never get from a client: who somebody is, what they may see, other secrets, ids, and what is traced. */
export const NEVER_FROM_A_CLIENT = [
  'authorization',
  'cookie',
  'router-authorization',
  'traceparent',
  'x-request-id',
  'x-user-id',
  'x-user-scopes',
];

/** What the edge measured, and the names of the client: passed on as they came. */
export const PASSED_ON = [
  'apollographql-client-name',
  'apollographql-client-version',
  'x-client-ip',
  'x-client-user-agent',
  'x-ja4',
];

/** Each setting of a file, by its path. A list is one value. */
export function settingsOf(value: unknown, path = ''): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { [path]: value };
  const inner = Object.entries(value).map(([key, item]) => settingsOf(item, path === '' ? key : `${path}.${key}`));
  return Object.assign({}, ...inner);
}

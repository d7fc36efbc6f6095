import * as fc from 'fast-check';
import { isObject } from '../../src/runtime/json.ts';

/** Values that are almost right somewhere, and of every kind of JSON. */
const OTHERS = ['', 'x', 'success', 'fail', 'Android', 'Web/H5', 'OTHER', 0, 1, 1.5, -1, 200, true, null, [], {}, [{}]];

type Path = readonly string[];

/** The paths of all values in a JSON value. */
function pathsIn(json: unknown, path: Path = []): Path[] {
  const inner = Array.isArray(json) || isObject(json) ? Object.entries(json) : [];
  return [path, ...inner.flatMap(([key, value]) => pathsIn(value, [...path, key]))];
}

/** A copy of this JSON value with one value removed, replaced or added. */
export function changedOnce(json: unknown): fc.Arbitrary<unknown> {
  const changes = fc.constantFrom<'replace' | 'remove' | 'add'>('replace', 'remove', 'add');
  const value = fc.oneof(fc.constantFrom(...OTHERS), fc.jsonValue({ maxDepth: 2 }));
  return fc.tuple(fc.constantFrom(...pathsIn(json)), changes, value).map((change) => changed(json, ...change));
}

/** Copies of this JSON value, each with another one of its values replaced by each of `OTHERS`. */
export function replacedOnce(json: unknown): unknown[] {
  return pathsIn(json).flatMap((path) => OTHERS.map((other) => changed(json, path, 'replace', other)));
}

function changed(json: unknown, path: Path, change: 'replace' | 'remove' | 'add', other: unknown): unknown {
  if (path.length === 0) return other;
  const copy: unknown = structuredClone(json);
  let parent = Object(copy);
  for (const key of path.slice(0, -1)) parent = parent[key];
  const key = path.at(-1) ?? '';
  if (change === 'remove') delete parent[key];
  else parent[change === 'add' ? 'added' : key] = other;
  // As it comes from a service, without holes in lists.
  return JSON.parse(JSON.stringify(copy));
}

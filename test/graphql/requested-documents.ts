import { parse } from 'graphql';
import type { DocumentCache } from '../../src/graphql/document-cache.ts';

/** Does with the cache what the server does for a request: it looks the document up, and adds it if it is not there. */
export async function request(cache: DocumentCache, source: string): Promise<{ wasKept: boolean }> {
  const kept = cache.findValid(source);
  if (!kept) cache.addValid(parse(source));
  return { wasKept: kept !== undefined };
}

export async function requestTimes(cache: DocumentCache, source: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await request(cache, source);
}

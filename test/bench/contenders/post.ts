import { request } from 'undici';
import type { Post } from './wire.ts';

/** Two ways to send a POST. Each reads the whole answer. */

/** As Apollo's template for a subgraph over REST does. */
export function postByFetch(origin: string): Post {
  return async (path, headers, body) => {
    const response = await fetch(origin + path, { method: 'POST', headers, body });
    return { status: response.status, json: await response.json() };
  };
}

export function postByUndici(origin: string): Post {
  return async (path, headers, body) => {
    const { statusCode, body: answer } = await request(origin + path, { method: 'POST', headers, body });
    return { status: statusCode, json: JSON.parse(await answer.text()) };
  };
}

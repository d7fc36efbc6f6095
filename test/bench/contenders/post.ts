import { Agent, Pool, request } from 'undici';
import { dispatchPost } from '../dispatch.ts';
import type { Post } from './wire.ts';

/** Three ways to send a POST. Each reads the whole answer. */

/** As Apollo's template for a subgraph over REST does: the `fetch` that Node brings, with Node's own undici. */
export function postByFetch(origin: string): Post {
  return async (path, headers, body) => {
    const response = await fetch(origin + path, { method: 'POST', headers, body });
    return { status: response.status, json: await response.json() };
  };
}

/** With an agent of the package: without one, `request` takes the agent of the process, which Node's own undici can have set. */
export function postByUndici(origin: string): Post {
  const dispatcher = new Agent();
  return async (path, headers, body) => {
    const { statusCode, body: answer } = await request(origin + path, { method: 'POST', headers, body, dispatcher });
    return { status: statusCode, json: JSON.parse(await answer.text()) };
  };
}

/** By the cheapest call that undici has. */
export function postByDispatch(origin: string): Post {
  const pool = new Pool(origin);
  return async (path, headers, body) => {
    const answer = await dispatchPost(pool, path, headers, body);
    return { status: answer.status, json: JSON.parse(answer.body().toString()) };
  };
}

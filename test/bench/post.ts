import type { Pool } from 'undici';

/** A POST with a JSON body, unless the headers say otherwise, by the cheapest call that undici has. */
export function post(
  pool: Pool,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    pool.dispatch(
      { path, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => resolve({ status, body: Buffer.concat(chunks) }),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

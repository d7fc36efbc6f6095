/** Sends a query with the GLB application, unless the options have another public key or other headers. */
export function query(
  baseUrl: string,
  body: unknown,
  options: { publicKey?: string; headers?: Record<string, string> } = {},
) {
  return fetch(`${baseUrl}/api/v2/fp_query/${options.publicKey ?? 'pk_sandbox_glb'}`, {
    method: 'POST',
    headers: options.headers ?? { authorization: 'Bearer sk_sandbox_glb', 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

import type { ErrorCode } from '../errors.ts';

/** An HTTP request that is refused before it becomes a GraphQL one. */
export class RequestRefused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: ErrorCode;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    code: ErrorCode = 'BAD_REQUEST',
  ) {
    super(message);
    this.name = 'RequestRefused';
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

import { extname, join } from 'node:path';
import { build } from 'vite';
import { listen } from './listen.ts';
import type { Sessions } from './people.ts';

/** The server of a page, which has an origin of its own, as a company's frontend has. */
export interface PageServer {
  /** Scheme, host and port: what a browser calls the page's origin. */
  readonly origin: string;
  /** Sets the gateway that the page asks. Until then the page is not served. */
  use(gatewayUrl: string): void;
  /** Closes every socket. */
  stop(): Promise<void>;
}

interface PageOptions {
  /** Port 0, the default, picks a free one. */
  readonly port?: number;
  /** Where the sandbox issues solved captcha challenges. With it the page gets one by `POST /sandbox/challenges`. */
  readonly challengeUrl?: string;
  /** With it the page gets the token of a session by `POST /sign-in/NAME`. */
  readonly sessions?: Pick<Sessions, 'signIn'>;
}

/**
 * Builds a page and serves it.
 *
 * @param folder the name of its folder, beside this file
 */
export async function startPageServer(folder: 'shop' | 'desk', options: PageOptions = {}): Promise<PageServer> {
  const { port = 0, challengeUrl, sessions } = options;
  const files = await buildPage(folder);
  let gatewayUrl = '';
  let origin = '';
  const { url, stop } = await listen((request, response) => {
    const path = request.url === '/' ? '/index.html' : (request.url ?? '');
    const file = files.get(path);
    const isOwn = request.headers.origin === undefined || request.headers.origin === origin;
    const name = request.method === 'POST' && isOwn ? /^\/sign-in\/(\w+)$/.exec(path)?.[1] : undefined;
    const token = name && sessions?.signIn(name);
    if (token) {
      response.writeHead(200, headersFor('.txt')).end(token);
    } else if (request.method === 'POST' && path === '/sandbox/challenges' && challengeUrl !== undefined) {
      // The one request that is passed on: it stands in for the captcha widget (shop/challenge.ts).
      fetch(challengeUrl, { method: 'POST' })
        .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
        .then(
          ({ status, text }) => response.writeHead(status, headersFor('.json')).end(text),
          () => response.writeHead(502).end(),
        );
    } else if (request.method !== 'GET' || file === undefined) {
      response.writeHead(404).end();
    } else if (gatewayUrl === '') {
      response.writeHead(503).end();
    } else {
      response.writeHead(200, headersFor(path, gatewayUrl)).end(file.replaceAll('{{gateway}}', gatewayUrl));
    }
  }, port);
  origin = new URL(url).origin;
  const use = (gateway: string) => {
    gatewayUrl = gateway;
  };
  return { origin, use, stop };
}

/** What Vite makes of the page, by path. */
async function buildPage(folder: string): Promise<ReadonlyMap<string, string>> {
  const built = await build({
    root: join(import.meta.dirname, folder),
    configFile: false,
    logLevel: 'warn',
    build: { write: false, modulePreload: { polyfill: false } },
  });
  if (!('output' in built)) throw new Error('expected one build, and none that watches');
  return new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : String(file.source)]),
  );
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};

function headersFor(path: string, gatewayUrl = ''): Record<string, string> {
  return {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      'img-src data:', // the empty icon
      `connect-src 'self' ${gatewayUrl}`,
      "base-uri 'none'",
      "form-action 'none'", // a form that its script does not handle would be sent as it is, token and all
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'", // no text becomes markup
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
}

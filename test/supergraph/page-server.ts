import { globSync } from 'node:fs';
import { extname, join } from 'node:path';
import { build } from 'vite';
import { listen } from './listen.ts';

/** The server of the shop's page, which has an origin of its own, as a company's frontend has. */
export interface PageServer {
  /** Scheme, host and port: what a browser calls the page's origin. */
  readonly origin: string;
  /** Sets the gateway that the page asks. */
  use(gatewayUrl: string): void;
  /** Closes every socket. */
  stop(): Promise<void>;
}

interface PageOptions {
  /** Port 0, the default, picks a free one. */
  readonly port?: number;
  /** Where the sandbox issues solved captcha challenges. With it the page gets one by `POST /sandbox/challenges`. */
  readonly challengeUrl?: string;
}

/** Builds the page and serves it. */
export async function startPageServer({ port = 0, challengeUrl }: PageOptions = {}): Promise<PageServer> {
  const files = await buildPage();
  let gatewayUrl = '';
  const { url, stop } = await listen(({ method, url: path = '' }, response) => {
    const send = (status: number, type = '.txt', text = '') => {
      const headers = { 'content-type': TYPES[type] ?? 'application/octet-stream', 'cache-control': 'no-store' };
      response.writeHead(status, headers).end(text.replaceAll('{{gateway}}', gatewayUrl));
    };
    const file = path === '/' ? '/index.html' : path;
    const content = files.get(file);
    if (method === 'POST' && path === '/sandbox/challenges' && challengeUrl !== undefined) {
      // The one request that is passed on: it stands in for the captcha widget (shop/challenge.ts).
      fetch(challengeUrl, { method: 'POST' })
        .then((answer) => answer.text())
        .then((challenge) => send(200, '.json', challenge))
        .catch(() => send(502));
    } else if (method === 'GET' && content !== undefined) {
      send(200, extname(file), content);
    } else {
      send(404);
    }
  }, port);
  const use = (gateway: string) => {
    gatewayUrl = gateway;
  };
  return { origin: new URL(url).origin, use, stop };
}

/** What Vite makes of the page, by path. */
async function buildPage(): Promise<ReadonlyMap<string, string>> {
  const root = join(import.meta.dirname, 'shop');
  const built = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: globSync(join(root, '*.html')) },
    },
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

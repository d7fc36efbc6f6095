import dns from 'node:dns';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into a server before anything else (`--import`): its resolver and its clock then do what is sent to the port of
 * SOAK_CONTROL_PORT.
 */

/** Two look-ups are worked on at a time, as libuv does it. */
const AT_ONCE = 2;

/** What the resolver and the clock do. */
export interface Control {
  /** How long a look-up of `localhost` takes, in ms. */
  readonly lookupMs: number;
  /** The error with which it fails; `hang` if it never ends. */
  readonly lookupCode?: string | undefined;
  /** By how much the wall clock is wrong, in ms. */
  readonly clockMs: number;
}

let control: Control = JSON.parse(process.env['SOAK_CONTROL'] ?? '{"lookupMs":0,"clockMs":0}');

const { lookup } = dns;
const queue: (() => void)[] = [];
let busy = 0;

function work(): void {
  const next = busy < AT_ONCE ? queue.shift() : undefined;
  if (!next) return;
  busy += 1;
  setTimeout(() => {
    busy -= 1;
    next();
    work();
  }, control.lookupMs);
}

const fake = (hostname: string, options: dns.LookupAllOptions, done?: (...result: unknown[]) => void) => {
  if (hostname !== 'localhost' || done === undefined) return void Reflect.apply(lookup, dns, [hostname, options, done]);
  queue.push(() => {
    const { lookupCode } = control;
    if (lookupCode === 'hang') return;
    if (lookupCode !== undefined) done(Object.assign(new Error('look-up'), { code: lookupCode }));
    else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
    else done(null, '127.0.0.1', 4);
  });
  work();
};
// Sound: it takes the two forms that the server uses.
dns.lookup = fake as unknown as typeof dns.lookup;
syncBuiltinESMExports();

const { now } = Date;
Date.now = () => now() + control.clockMs;

createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  control = JSON.parse(searchParams.get('control') ?? '{}');
  response.end();
})
  .listen(Number(process.env['SOAK_CONTROL_PORT']), '127.0.0.1')
  .unref();

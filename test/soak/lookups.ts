import { atLeast, atMost, type Scenario } from './findings.ts';
import { describeOutcomes, goodPart, isUnverified } from './samples.ts';
import type { Behaviour } from './upstream-commands.ts';

/** Look-ups of the upstreams' names are slow, then fail; and they fail from the start. */

const STRICT: Behaviour = { mode: 'good', latencyMs: 20, isStrict: true };
const SLOW_MS = 20;
/** As many requests of 100 tokens as make 1,100 calls, each of which needs a socket. */
const REQUESTS = 11;
const CAPTCHAS = 20;
const PEOPLE_RATE = 20;
/** In ms; the grace of a server that never gets an address. */
const GRACE_MS = '500';

export const lookups: Scenario = async (field, size) => {
  await field.behave('captcha-EU', STRICT);
  const slow = { lookupMs: SLOW_MS, clockMs: 0 };
  const dead = { ...slow, lookupCode: 'EAI_AGAIN' };
  const server = await field.serveControlled({}, slow);
  const load = (url: string) => {
    const stream = { url, ms: size.calm };
    return field.load({
      hundred: { ...stream, question: 'hundred', connections: REQUESTS },
      bogus: { ...stream, question: 'bogus', connections: CAPTCHAS },
      people: { ...stream, question: 'captcha', connections: CAPTCHAS, rate: PEOPLE_RATE },
    });
  };
  const withSlow = await load(server.url);
  await server.control(dead);
  const withDead = await load(server.url);
  const never = await field.serveControlled({ UPSTREAM_CHECK_GRACE_MS: GRACE_MS }, dead);
  const withNone = await load(never.url);

  const all = [withSlow, withDead, withNone];
  const bogus = all.flatMap((seen) => seen.bogus);
  const people = [...withSlow.people, ...withDead.people];
  const nobody = [...withNone.people, ...withNone.bogus];
  const proceeded = [...bogus, ...all.flatMap((seen) => seen.people)].filter(isUnverified);
  return [
    atMost(
      'look-ups slow or dead: captchas that proceed without a verdict',
      0,
      proceeded.length,
      '',
      `bogus ones: ${describeOutcomes(bogus)}`,
    ),
    atLeast(
      'look-ups slow, then dead: people with their verdict',
      100,
      goodPart(people) * 100,
      ' %',
      describeOutcomes(people),
    ),
    atMost(
      'look-ups dead from the start: outcomes other than OVERLOADED',
      0,
      nobody.filter(({ outcome }) => outcome !== 'OVERLOADED').length,
      '',
      describeOutcomes(nobody),
    ),
  ];
};

import leven, { closestMatch } from 'leven';
import { VARIABLES, type Variable } from './variables.ts';

/** Which names in an environment are mistyped. If one were accepted, a default would stay in use and nobody would notice. */

export type Environment = Readonly<Record<string, string | undefined>>;

const ROWS = Object.values<Variable>(VARIABLES);
const KNOWN = ROWS.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : name));

/** First words that only our names have, such as `CAPTCHA`. Other software uses these four in an environment as well. */
const OWN_FIRST_WORDS: ReadonlySet<string> = new Set(
  ROWS.flatMap(({ name }) => (name.includes('_') ? firstWordOf(name) : [])).filter(
    (word) => !['LOG', 'OTEL', 'ADMIN', 'TRUSTED'].includes(word),
  ),
);

/** A sentence for each unknown name that is nearly one of ours, or has the first word of one. */
export function unknownNames(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (KNOWN.includes(name) || isOfKubernetes(name, value)) return [];
    const upper = name.toUpperCase();
    // Autotools and Nix set `host` and `port`. A name of one word counts only as it is written.
    const near = KNOWN.find((known) => isNear(known.includes('_') ? upper : name, known));
    if (!near && !(name.includes('_') && OWN_FIRST_WORDS.has(firstWordOf(upper)))) return [];
    const meant = near ?? closestMatch(upper, KNOWN, { maxDistance: Math.floor(name.length / 4) });
    const advice = meant ? `Did you mean ${meant}?` : 'Correct the name or remove it.';
    return `${name}: there is no such variable. ${advice}`;
  });
}

function firstWordOf(name: string): string {
  return name.split('_', 1).join();
}

/**
 * Is a name probably a known one that was mistyped? It has the same letters, as PROT has those of PORT; or it differs in one letter
 * of eight, and in two at most. Names of one word need the same letters, because other words resemble them by chance, as POST and PORTS do.
 */
function isNear(name: string, known: string): boolean {
  const distance = leven(name, known, { maxDistance: 3 });
  const lettersOf = (text: string) => [...text].sort().join('');
  if (distance <= 2 && lettersOf(name) === lettersOf(known)) return true;
  return known.includes('_') && distance <= Math.min(known.length / 8, 2);
}

/** Kubernetes puts these into every container for each service of the namespace, and a service may be called `captcha`. */
function isOfKubernetes(name: string, value: string): boolean {
  if (/_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/.test(name)) return true;
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value);
}

import leven, { closestMatch } from 'leven';
import type { Variable } from './values.ts';
import { VARIABLES } from './variables.ts';

/** The check for mistyped names. If one were accepted, a default would stay in use and nobody would notice. */

const NAMES = Object.values<Variable>(VARIABLES).map(({ name }) => name);
const FILE_NAMES = Object.values<Variable>(VARIABLES).flatMap(({ name, secret }) => (secret ? `${name}_FILE` : []));
const KNOWN = [...NAMES, ...FILE_NAMES];

/** First words of our names that other software uses in an environment as well. */
const SHARED_FIRST_WORDS: ReadonlySet<string> = new Set(['LOG', 'OTEL', 'ADMIN', 'TRUSTED']);
const OWN_FIRST_WORDS: ReadonlySet<string> = new Set(
  NAMES.filter((name) => name.includes('_'))
    .map(firstWordOf)
    .filter((word) => !SHARED_FIRST_WORDS.has(word)),
);

/** A sentence for each unknown name that has the first word of one of ours (`MAX_`), or is nearly one of ours. */
export function unknownNames(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (KNOWN.includes(name) || isOfKubernetes(name, value)) return [];
    const upper = name.toUpperCase();
    // Autotools and Nix set `host` and `port`. A name of one word counts only as it is written.
    const near = KNOWN.find((known) => isNear(known.includes('_') ? upper : name, known));
    if (!near && !(name.includes('_') && OWN_FIRST_WORDS.has(firstWordOf(upper)))) return [];
    const meant = near ?? closestMatch(upper, KNOWN, { maxDistance: Math.floor(name.length / 4) });
    const advice = meant ? `Did you mean ${meant}?` : 'Correct the name or remove it.';
    return [`${name}: there is no such variable. ${advice}`];
  });
}

function firstWordOf(name: string): string {
  return name.split('_', 1).join();
}

/**
 * Is a name probably a known one that was mistyped? Other words resemble a short name by chance, so a name that resembles
 * a short one, or one of one word, has to have the same letters: PROT counts as PORT, but POST does not, and HOSTS does not
 * count as HOST.
 */
function isNear(name: string, known: string): boolean {
  // This saves most of the work: the environment is read again every 2 s, and can have a thousand names.
  if (Math.abs(name.length - known.length) > 2) return false;
  const distance = leven(name, known, { maxDistance: 3 });
  if (distance <= 2 && lettersOf(name) === lettersOf(known)) return true;
  if (known.length < 8 || !known.includes('_')) return false;
  return distance <= (known.length < 16 ? 1 : 2);
}

function lettersOf(name: string): string {
  return [...name].sort().join('');
}

/** Kubernetes puts these into every container for each service of the namespace, and a service may be called `captcha`. */
function isOfKubernetes(name: string, value: string): boolean {
  if (/_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/.test(name)) return true;
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value);
}

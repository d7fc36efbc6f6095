import leven from 'leven';
import type { Table } from './values.ts';

/** Which names in an environment are mistyped, or have no effect. A default would stay in use, and nobody would notice. */

export type Environment = Readonly<Record<string, string | undefined>>;

const namesOf = (table: Table) =>
  Object.values(table).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : name));

/** Settings of older versions. Other programs have variables with such names too, so they do not stop the start. */
const REMOVED =
  /^(MAX_(TOKENS|DEPTH|ALIASES|DIRECTIVES|CONNECTION_AGE_MS|EVENT_LOOP_DELAY_MS)|UPSTREAM_(CHECK_GRACE_MS|MAX_QUEUE|TRACEPARENT))=/;

/** Variables of OpenTelemetry with an effect: two turn traces off, and the OTLP exporter reads the others itself. */
const HONOURED =
  /^OTEL_(SDK_DISABLED=(true|false)|TRACES_EXPORTER=otlp|(TRACES|METRICS|LOGS)_EXPORTER=none|EXPORTER_OTLP_(TRACES_)?(PROTOCOL=http\/json|(HEADERS|COMPRESSION|CERTIFICATE|CLIENT_CERTIFICATE|CLIENT_KEY)=.+))$/is;

/** A sentence for each unknown name that is nearly one of the table. */
export function unknownNames(env: Environment, table: Table): string[] {
  const known = namesOf(table);
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name)) return [];
    const upper = name.toUpperCase();
    // Autotools and Nix set `host` and `port`. A name of one word counts only as it is written.
    const near = known.find((one) => isNear(one.includes('_') ? upper : name, one));
    return near ? [`${name}: there is no such variable. Did you mean ${near}?`] : [];
  });
}

/** The names of variables that their operator may expect to have an effect, and that have none. */
export function unusedNames(env: Environment, table: Table): string[] {
  const known = namesOf(table);
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || known.includes(name)) return [];
    const text = `${name}=${value.trim()}`;
    return REMOVED.test(text) || (/^OTEL_\w+=/.test(text) && !HONOURED.test(text)) ? [name] : [];
  });
}

export function areTracesOff({ OTEL_SDK_DISABLED = '', OTEL_TRACES_EXPORTER = '' }: Environment): boolean {
  return /^\s*true\s*$/i.test(OTEL_SDK_DISABLED) || /^\s*none\s*$/i.test(OTEL_TRACES_EXPORTER);
}

/**
 * Is a name a known one that was mistyped: the same letters, one letter of eight but two at most, no unit, or `_FILE`
 * although it is no secret? Of one word only the letters count, because POST and PORTS resemble PORT by chance.
 */
function isNear(name: string, known: string): boolean {
  const distance = leven(name, known, { maxDistance: 3 });
  const lettersOf = (text: string) => [...text].sort().join('');
  if (distance <= 2 && lettersOf(name) === lettersOf(known)) return true;
  const isVariant = name === `${known}_FILE` || `${name}_MS` === known;
  return known.includes('_') && (isVariant || distance <= Math.min(known.length / 8, 2));
}

const BOUNDED = 'the tokens of a document, its cost and the size of its answer bound it';

/**
 * What earlier versions read from the environment, and what holds now. It is ignored, so that a configuration of theirs starts, and
 * a warning at the start names it. After a dot comes a key of a variable that is a JSON object.
 */
const REMOVED: Readonly<Record<string, string>> = {
  MAX_TOKENS: 'a document may have 2,000 lexical tokens',
  MAX_DEPTH: BOUNDED,
  MAX_ALIASES: BOUNDED,
  MAX_DIRECTIVES: BOUNDED,
  MAX_CONNECTION_AGE_MS: 'a connection ends with an answer after 4 to 6 minutes',
  MAX_EVENT_LOOP_DELAY_MS: 'requests get a 503 while the event loop is late by more than 200 ms',
  UPSTREAM_MAX_QUEUE: 'as many calls wait as UPSTREAM_MAX_IN_FLIGHT allows under way',
  UPSTREAM_CHECK_GRACE_MS: 'an outage delays readiness by 15 s; with UPSTREAM_CHECK=off nothing delays it',
  UPSTREAM_TRACEPARENT: 'the services get no ids of traces',
  'ATTESTATION.unverifiedPerMinute':
    'in an outage twice as many may proceed in a minute as were verified in the busiest minute of the hour before, and at least ten',
};

/** Is this the name of such a variable, or of a file with its value? */
export const isRemoved = (name: string) => Object.hasOwn(REMOVED, name.replace(/_FILE$/, ''));

/** A sentence for each variable and each key that is set without effect. */
export function removedIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(REMOVED).flatMap(([path, now]) => {
    const [name = '', key] = path.split('.');
    const set = key === undefined ? [name, `${name}_FILE`].filter((one) => env[one]) : [];
    if (key !== undefined && key in objectIn(env[name])) set.push(`"${key}" in ${name}`);
    return set.map((what) => `${what} has no effect any more: ${now}.`);
  });
}

/** The text of a variable without the keys that are gone. */
export function withoutRemovedKeys(name: string, text: string): string {
  const all = Object.entries(objectIn(text));
  const kept = all.filter(([key]) => !Object.hasOwn(REMOVED, `${name}.${key}`));
  return kept.length === all.length ? text : JSON.stringify(Object.fromEntries(kept));
}

/** What a JSON text holds; an object without keys if it is none. */
function objectIn(text = ''): object {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

import { createClient } from './client.ts';
import { DEVICES, makeToken } from './device.ts';
import { find } from './dom.ts';
import type { ThisDeviceQuery } from './generated/graphql.ts';
import { ThisDeviceDocument } from './generated/graphql.ts';

/**
 * The page *This device*. It asks once in a visit, because each query is an event that may be billed. Whoever comes back by the
 * browser's buttons sees the same answer, and a reload asks with a new token.
 */

const client = createClient(document.querySelector<HTMLMetaElement>('meta[name=gateway]')?.content ?? '');
const choice = find('device', HTMLSelectElement);

choice.append(...DEVICES.map(([name, token]) => new Option(name, token)));
choice.selectedIndex = Number(sessionStorage['device'] ?? 1);
choice.addEventListener('change', () => {
  sessionStorage['device'] = choice.selectedIndex;
  location.reload();
});
find('said', HTMLElement).textContent = await askOnce();

async function askOnce(): Promise<string> {
  const isReload = performance
    .getEntriesByType('navigation')
    .some((entry) => entry instanceof PerformanceNavigationTiming && entry.type === 'reload');
  const kept = history.state?.said;
  if (kept && !isReload) return kept;
  const { data } = await client.query({
    query: ThisDeviceDocument,
    variables: { token: makeToken(choice.value) },
    errorPolicy: 'all', // errors are part of the result, so that nothing is thrown
  });
  const said = sentenceOf(data?.deviceFingerprint);
  history.replaceState({ said }, '');
  return said;
}

function sentenceOf(answer: ThisDeviceQuery['deviceFingerprint'] | undefined): string {
  // Null with an entry in `errors`, or no answer.
  if (!answer) return 'We cannot look at this device right now. Please reload the page in a minute.';
  if (answer.__typename === 'DeviceFingerprintRejected')
    return 'We do not recognise this device. Please reload the page.';
  return `${nameOf(answer.deviceBasic)}: is this you?`;
}

type Basic = Extract<ThisDeviceQuery['deviceFingerprint'], { __typename: 'DeviceFingerprint' }>['deviceBasic'];

/** A browser names itself and its system only if it wants to, and a device that is newer than this page has no parts. */
function nameOf(basic: Basic): string {
  if (!basic) return 'A new kind of device';
  if (basic.__typename === 'Mobile') return basic.model;
  return `${basic.browser.name ?? 'A browser'} on ${basic.os.name ?? 'an unknown system'}`;
}

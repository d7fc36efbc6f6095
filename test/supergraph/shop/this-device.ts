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
    variables: { token: makeToken(choice.value), metadata: { additional: { page: 'This device' } } },
    errorPolicy: 'all', // errors are part of the result, so that nothing is thrown
  });
  const said = sentenceOf(data?.deviceFingerprint);
  history.replaceState({ said }, '');
  return said;
}

function sentenceOf(answer: ThisDeviceQuery['deviceFingerprint'] | undefined): string {
  switch (answer?.__typename) {
    case 'DeviceFingerprint':
      return `${nameOf(answer)}: is this you?`;
    case 'DeviceFingerprintRejected': // the token is not one of the client SDK, or the page sends a wrong argument
      return answer.reason === 'INVALID_TOKEN'
        ? 'We do not recognise this device. Please reload the page.'
        : 'This page is out of date. Please reload it.';
    default: // null with an entry in `errors`, or no answer
      return 'We cannot look at this device right now. Please reload the page in a minute.';
  }
}

type Device = Extract<ThisDeviceQuery['deviceFingerprint'], { __typename: 'DeviceFingerprint' }>;

/** A browser names itself and its system only if it wants to, and a device that is newer than this page has no parts. */
function nameOf({ clientType, deviceBasic }: Device): string {
  switch (deviceBasic?.__typename) {
    case 'Mobile':
      return `${deviceBasic.model} in our app for ${deviceBasic.os.name ?? clientType}`;
    case 'Web':
      return `${deviceBasic.browser.name ?? 'A browser'} on ${deviceBasic.os.name ?? 'an unknown system'}`;
    default:
      return 'A new kind of device';
  }
}

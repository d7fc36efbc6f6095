/**
 * Loaded before a program (`node --import`): makes it crash on SIGUSR2, or at its start, in the way that CRASH names. The
 * error says what an error of a library might: what somebody sent.
 */

const { CRASH = '', CANARY = '' } = process.env;
const words = `cannot read "${CANARY}"\n    at ${CANARY} (/nowhere.ts:1:1)`;

function throwIt(): never {
  if (CRASH.endsWith('text')) throw CANARY;
  throw Object.assign(new TypeError(words, { cause: new Error(CANARY) }), { input: CANARY });
}

const WAYS: Readonly<Record<string, () => void>> = {
  exception: throwIt,
  rejection: () => void Promise.reject().catch(throwIt),
  'exception with a text': throwIt,
  'rejection with a text': () => void Promise.reject().catch(throwIt),
};

// What the program asks before it has a log.
if (CRASH === 'at the start') Object.defineProperty(process.stdout, 'isTTY', { get: throwIt });
else process.once('SIGUSR2', () => WAYS[CRASH]?.());

import { expect, test } from 'vitest';
import { shell } from './process.ts';

test('a fake upstream that fails while it answers breaks its request at once, and names the mistake', async () => {
  // Vitest reports it as an unhandled rejection, which would fail this test too: hence a process of its own.
  const script = `
    import { startUpstream } from "./test/support/upstream.ts";
    process.on("unhandledRejection", ({ message }) => console.log(message));
    const { url } = await startUpstream(() => { throw new Error("a mistake"); });
    await fetch(url, { method: "POST", signal: AbortSignal.timeout(5_000) }).catch(({ cause }) => console.log(cause?.code));
    process.exit();`;
  expect(await shell(`node --input-type=module --eval '${script}'`)).toBe('a mistake\nUND_ERR_SOCKET\n');
});

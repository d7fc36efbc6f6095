import { onTestFinished, type TestContext } from 'vitest';

/** What was started, which stops when the test ends. A test that runs beside others passes its context. */
export async function untilEnd<T extends { stop(): unknown }>(
  starting: T | Promise<T>,
  context: Pick<TestContext, 'onTestFinished'> = { onTestFinished },
): Promise<T> {
  const started = await starting;
  context.onTestFinished(async () => void (await started.stop()));
  return started;
}

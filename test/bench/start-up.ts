import { json, request } from '../support/requests.ts';
import type { Contender } from './contenders.ts';
import type { Size } from './sizes.ts';
import { median } from './statistics.ts';
import type { Testbed } from './testbed.ts';

/** Time from spawning a contender to its first answer with status 200, in ms by contender: medians of alternating starts. */
export async function measureStarts(
  testbed: Testbed,
  contenders: readonly Contender[],
  size: Size,
): Promise<Readonly<Record<string, number>>> {
  const times = new Map<string, number[]>();
  // The first start of each is not counted: it reads files that nobody has read yet.
  for (let round = 0; round <= size.starts; round += 1) {
    for (const contender of contenders) {
      const time = await timeToAnswer(testbed, contender);
      if (round > 0) times.set(contender.name, [...(times.get(contender.name) ?? []), time]);
    }
  }
  return Object.fromEntries([...times].map(([name, measured]) => [name, median(measured)]));
}

async function timeToAnswer(testbed: Testbed, contender: Contender): Promise<number> {
  const start = performance.now();
  const running = await testbed.start(contender);
  try {
    const { status, text } = await request(running.url, json('{"query":"{__typename}"}', running.headers));
    const time = performance.now() - start;
    if (status !== 200 || !text.includes('"Query"')) throw new Error(`${contender.name} starts with ${text}`);
    return time;
  } finally {
    await running.end();
  }
}

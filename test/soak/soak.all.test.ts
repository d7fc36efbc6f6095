import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, startCommand } from '../support/process.ts';

test('every promise of the soak is kept in a few seconds of the bot', async ({ onTestFinished }) => {
  expect(existsSync(`${ROOT}/dist/server/main.js`), 'npm run build makes what the soak starts').toBe(true);
  const { PATH = '' } = process.env;
  const soak = startCommand([process.execPath, 'test/soak/main.ts', '--seconds', '4'], {
    cwd: ROOT,
    env: { PATH },
  });
  // Asked to end, it takes its processes with it.
  onTestFinished(async () => void (await soak.end('SIGTERM')));
  expect(await soak.ended, soak.stdout() + soak.stderr()).toBe(0);
  expect(soak.stdout()).toContain('kept    bot: ');
});

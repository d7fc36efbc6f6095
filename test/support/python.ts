import { spawnSync } from 'node:child_process';

/** A real Python with PyJWT: Debian's, or the executable that `PYTHON` names. */
export const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3';

/** Is there one? With `REQUIRE_PYJWT` set, its absence fails the tests instead of skipping them. */
export const HAS_PYJWT =
  spawnSync(PYTHON, ['-c', 'import jwt, cryptography']).status === 0 || process.env['REQUIRE_PYJWT'] !== undefined;

/** Ends the title of a suite that is skipped. */
export const WHY_NO_PYJWT = HAS_PYJWT
  ? ''
  : ` (skipped: ${PYTHON} has no PyJWT, which "apt-get install -y python3-jwt" brings)`;

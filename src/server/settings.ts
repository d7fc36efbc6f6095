import { z } from 'zod';
import { integer, port, type Table, type Values } from '../config/values.ts';

export const SERVER_VARIABLES = {
  host: { name: 'HOST', expected: 'an address of this machine', schema: z.string(), default: '127.0.0.1' },
  port: { name: 'PORT', ...port(65_535), default: '4001' },
  adminPort: { name: 'ADMIN_PORT', ...port(65_535), default: '9464' },
  maxBodyBytes: { name: 'MAX_BODY_BYTES', ...integer(1_024, 10_485_760), default: '524288' },
  maxConnections: { name: 'MAX_CONNECTIONS', ...integer(1, 100_000), default: '4096' },
  shutdownGraceMs: { name: 'SHUTDOWN_GRACE_MS', ...integer(0, 30_000), default: '2000' },
} as const satisfies Table;

export type ServerSettings = Values<typeof SERVER_VARIABLES>;

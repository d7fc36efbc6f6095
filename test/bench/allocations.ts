import { getHeapStatistics } from 'node:v8';

/** Loaded before a server: answers each message with the bytes that V8 has allocated for it so far. */

process.on('message', () => process.send?.(getHeapStatistics().total_allocated_bytes));
process.channel?.unref();

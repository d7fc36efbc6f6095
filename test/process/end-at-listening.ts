import { Server } from 'node:net';

/** Loaded before a program (`node --import`): a SIGTERM reaches it while it starts, when it first listens. */

const { listen } = Server.prototype;
Server.prototype.listen = function (this: Server, ...args: unknown[]) {
  Server.prototype.listen = listen;
  process.kill(process.pid, 'SIGTERM');
  // Sound: what is passed on is what came in.
  return listen.apply(this, args as Parameters<typeof listen>);
};

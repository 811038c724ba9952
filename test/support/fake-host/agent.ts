// An agent process with the real door and ACP server over a fake host. Run by Node as it is.

import { serveAcp } from '../../../src/core/acp/serve-acp.ts';
import { openDoor } from '../../../src/core/door/relay.ts';
import { createFramePair } from '../../../src/protocol/transport/frame-port.ts';
import { REAL_CLOCK } from './connect-fake.ts';
import { FakeHost } from './fake-host.ts';

const host = new FakeHost();
const cancel = host.cancel.bind(host);
host.cancel = (sessionId, admission, actor) => {
  process.stderr.write('session/cancel was read\n');
  return cancel(sessionId, admission, actor);
};
host.script = async ({ text, say, signal }) => {
  const flood = /^flood (\d+)$/.exec(text)?.[1];
  if (flood !== undefined) {
    for (let sent = 0; sent < Number(flood) && !signal.aborted; sent += 1) {
      say(`${'x'.repeat(1000)}`);
      if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return signal.aborted ? 'cancelled' : 'end_turn';
  }
  if (text.startsWith('count slowly')) {
    say('1');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return 'cancelled';
  }
  say('hello there');
  return 'end_turn';
};

const note = (level: string) => (message: string, details?: object) =>
  void process.stderr.write(`${JSON.stringify({ level, message, details })}\n`);
const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
const [doorSide, hostSide] = createFramePair();
let minted = 0;
const server = serveAcp({
  port: hostSide,
  host,
  extensions: { handlers: {} },
  log,
  clock: REAL_CLOCK,
  ids: { unique: () => `minted-${minted++}`, secret: () => 'secret' },
  agentVersion: '0.0.0',
});
await openDoor({ input: process.stdin, output: process.stdout, host: doorSide, log });
await server.done;
process.exit(0);

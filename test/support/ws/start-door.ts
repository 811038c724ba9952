import { onTestFinished } from 'vitest';
import { hostConnector } from '../../../src/core/connect-host.ts';
import { bindOf } from '../../../src/core/door/ws/entry/bind.ts';
import { Bearers } from '../../../src/core/door/ws/entry/tokens.ts';
import { WS_LIMITS, WsDoor, type WsLimits } from '../../../src/core/door/ws/ws-door.ts';
import { randomIds } from '../../../src/core/host/node-ports.ts';
import { AGENT_CORE, stopHost } from '../agent-core/agent-core.ts';

const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Opens a WebSocket door in this process, with times as short as a test needs them, to a host that is a process of its
 * own; both are gone after the test.
 */
export async function startDoorHere(
  home: string,
  limits: Partial<WsLimits>,
): Promise<{ readonly url: string; readonly port: number; readonly token: string }> {
  const token = randomIds.secret();
  const door = new WsDoor({
    bind: await bindOf('127.0.0.1:0'),
    tls: null,
    bearers: new Bearers({ owner: token, observer: null }),
    origins: new Set(),
    limits: { ...WS_LIMITS, ...limits },
    connectHost: hostConnector({
      dataFolder: home,
      model: null,
      keys: { owner: null, observer: null },
      environment: { ...definedOnly(process.env), PILOTHOUSE_SANDBOX: 'off' },
      program: [AGENT_CORE],
      hostArgs: [],
      log: SILENT,
    }),
    ids: randomIds,
    log: SILENT,
  });
  const url = await door.open();
  onTestFinished(async () => {
    await door.close();
    stopHost(home);
  });
  return { url, port: Number(new URL(url).port), token };
}

function definedOnly(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

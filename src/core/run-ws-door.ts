import { readFileSync } from 'node:fs';
import { codeOf, messageOf } from '../base/errors.ts';
import { hostConnector } from './connect-host.ts';
import { bindOf, requireSafe, WsBindError } from './door/ws/entry/bind.ts';
import { Bearers, takeTokens } from './door/ws/entry/tokens.ts';
import { WS_LIMITS, WsDoor, type WsLimits } from './door/ws/ws-door.ts';
import { takeAccessKeys } from './host/compose/access-keys.ts';
import type { ServeWsOptions } from './host/compose/command-line.ts';
import { onTermination } from './host/compose/lifetime.ts';
import { randomIds } from './host/node-ports.ts';
import { definedOnly, type RunDoorOptions } from './run-door.ts';

/** How a wrong command line is told from what may pass. */
const EXIT_MISUSED = 2;

type Options = ServeWsOptions & RunDoorOptions;

/**
 * Lets clients in by WebSocket until it is asked to end. Resolves with the exit code: 2 for a door that must not be
 * opened as it was asked for, 1 for one that can't be.
 */
export async function runWsDoor(options: Options): Promise<number> {
  const { log } = options;
  const ended = new Promise<void>((resolve) => onTermination(resolve));
  try {
    const { door, madeToken } = await doorOf(options);
    const url = await door.open();
    const shown = { acp_ws: url, ...(madeToken === null ? {} : { token: madeToken }) };
    // Whoever started it may not read; that is no fault of the clients.
    process.stdout.on('error', () => undefined);
    process.stdout.write(`${JSON.stringify(shown)}\n`);
    log.info('The WebSocket door is open', { url });
    await ended;
    await door.close();
    return 0;
  } catch (failure) {
    const code = codeOf(failure) ?? 'ws.failed';
    log.error(messageOf(failure), { code });
    return failure instanceof WsBindError && code !== 'ws.listen_failed' ? EXIT_MISUSED : 1;
  }
}

async function doorOf(
  options: Options,
): Promise<{ readonly door: WsDoor; readonly madeToken: string | null }> {
  const { log } = options;
  const given = takeTokens(process.env, options.tokenFile);
  const limits = limitsOf(process.env);
  const bind = await bindOf(options.listen);
  requireSafe(bind, { tls: options.tls !== null, token: given.owner !== null });
  const owner = given.owner ?? randomIds.secret();
  const { tls } = options;
  const door = new WsDoor({
    bind,
    tls: tls && { cert: textIn(tls.certFile), key: textIn(tls.keyFile) },
    bearers: new Bearers({ owner, observer: given.observer }),
    origins: new Set(options.origins.map((origin) => origin.toLowerCase().replace(/\/$/u, ''))),
    limits,
    connectHost: hostConnector({
      ...options,
      keys: takeAccessKeys(process.env),
      environment: definedOnly(process.env),
    }),
    ids: randomIds,
    log,
  });
  return { door, madeToken: given.owner === null ? owner : null };
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new WsBindError('ws.bad_file', `${file} can't be read: ${messageOf(error)}`);
  }
}

function limitsOf(environment: NodeJS.ProcessEnv): WsLimits {
  const said = environment['PILOTHOUSE_WS_RETAIN_SECS'];
  if (said === undefined || said.trim() === '') return WS_LIMITS;
  const seconds = Number(said);
  // A longer timer of Node fires at once.
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > 86_400)
    throw new WsBindError(
      'ws.bad_setting',
      `PILOTHOUSE_WS_RETAIN_SECS is "${said}"; it is a number of seconds from 0 to 86400.`,
    );
  return { ...WS_LIMITS, retention: { ...WS_LIMITS.retention, retainMs: seconds * 1000 } };
}

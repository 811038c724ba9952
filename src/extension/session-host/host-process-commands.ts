import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { hostIdOf, targetOf } from '../commands/picks/arguments.ts';
import type { CommandTable } from '../commands/services.ts';
import { type Host, isElsewhere } from '../hosts/hosts.ts';
import { type HostStatus, hostStatus, stopHost } from './host-control.ts';
import { hostLog } from './host-log.ts';
import type { SessionHostPorts } from './ports.ts';

/** Commands about the process that sessions live in. */
export function hostProcessCommands(ports: SessionHostPorts): CommandTable {
  return {
    'pilothouse.showHostStatus': async (argument) => showStatus(ports, hostOf(ports, argument)),
    'pilothouse.stopHost': async (argument) => {
      const host = hostOf(ports, argument);
      const status = await hostStatus(ports.program(host));
      if (status.pid === null) void vscode.window.showInformationMessage(statusWords(status));
      else if (await mayStop(ports, status, l10n.t('Stop Session Host'))) await stop(ports, host);
    },
    'pilothouse.restartAgent': async (argument) => restart(ports, argument),
    'pilothouse.showLog': async () => showLog(ports),
  };
}

function hostFor({ hosts }: SessionHostPorts, argument: unknown): Host {
  return hosts.get(hostIdOf(argument) ?? hosts.own.id) ?? hosts.own;
}

/** A host of another machine is not this one's to look into. */
function hostOf(ports: SessionHostPorts, argument: unknown): Host {
  const named = hostFor(ports, argument);
  return isElsewhere(named) ? ports.hosts.own : named;
}

async function showStatus(ports: SessionHostPorts, host: Host): Promise<void> {
  const status = await hostStatus(ports.program(host));
  const log = l10n.t('Show Log');
  const stopIt = l10n.t('Stop Session Host');
  const actions = status.pid === null ? [] : [log, stopIt];
  const picked = await vscode.window.showInformationMessage(statusWords(status), ...actions);
  if (picked === log) await showLog(ports);
  if (picked === stopIt)
    await vscode.commands.executeCommand('pilothouse.stopHost', { hostId: host.id });
}

function statusWords(status: HostStatus): string {
  if (status.pid === null)
    return l10n.t('No session host runs. It is started when a session is used.');
  const { version, pid, sessions, clients } = status;
  return l10n.t(
    'The session host runs as process {0}, version {1}. Sessions in it: {2}. Windows and programs connected to it: {3}.',
    ...[pid, version, sessions, clients].map(String),
  );
}

/** Brings up a new host; where only the way to it is broken, or it is another machine's, a new way. */
async function restart(ports: SessionHostPorts, argument: unknown): Promise<void> {
  const { sessionId } = targetOf(argument);
  const host = sessionId === undefined ? hostFor(ports, argument) : ports.hosts.of(sessionId);
  const { state } = host.agent;
  if (state.kind === 'failed' && state.signedOut === true) {
    // The same token would be refused again.
    await vscode.commands.executeCommand('pilothouse.setHostToken', { hostId: host.id });
    return;
  }
  const pid = state.kind === 'ready' ? (state.info.host?.pid ?? null) : null;
  if (isElsewhere(host) || pid === null) await host.agent.restart();
  else await restartProcess(ports, host, { pid, argument });
}

async function restartProcess(
  ports: SessionHostPorts,
  host: Host,
  { pid, argument }: { readonly pid: number; readonly argument: unknown },
): Promise<void> {
  const status = await hostStatus(ports.program(host)).catch((error: unknown) => {
    ports.log(messageOf(error));
    return null;
  });
  // The settings may name another data folder by now: the host of the old one is left alone.
  if (status !== null && status.pid !== pid) {
    await host.agent.restart();
    return;
  }
  const isConfirmed = isObject(argument) && argument['confirmed'] === true;
  const action = l10n.t('Restart Session Host');
  if (!isConfirmed && status?.pid && !(await mayStop(ports, status, action))) return;
  await stop(ports, host, pid);
  await ports.hosts.connect(host);
}

type Running = Extract<HostStatus, { readonly pid: number }>;

/** Asks, unless nobody would lose anything. */
async function mayStop(
  { hub }: SessionHostPorts,
  status: Running,
  action: string,
): Promise<boolean> {
  const isBusy = hub.directory.rows().some((row) => row.activePrompt || row.openGates > 0);
  if (!isBusy && status.clients <= 1) return true;
  const detail = l10n.t(
    'Sessions in it: {0}. Windows and programs connected to it: {1}. What runs is stopped; what was said and done is kept. Another window that uses it starts a new one.',
    ...[status.sessions, status.clients].map(String),
  );
  const question = l10n.t('End the session host?');
  const options = { modal: true, detail };
  return (await vscode.window.showWarningMessage(question, options, action)) === action;
}

/** `hanging`: the process to end if it does not answer any more. */
async function stop(
  { program, log }: SessionHostPorts,
  host: Host,
  hanging: number | null = null,
): Promise<void> {
  // This window's door goes first: it would only bring up the next host.
  await host.agent.release();
  try {
    await stopHost(program(host));
    log('the session host was stopped by hand');
  } catch (error) {
    if (hanging === null) throw error;
    log(`the session host did not stop and is ended: ${messageOf(error)}`);
    endProcess(hanging);
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!isObject(error) || error['code'] !== 'ESRCH') throw error;
  }
}

async function showLog(ports: SessionHostPorts): Promise<void> {
  const file = await hostLog(ports);
  if (file === null) {
    ports.showChannel();
    return;
  }
  const host = l10n.t('Session host');
  const window = l10n.t('This window');
  const items = [
    { label: host, description: l10n.t('sessions, models and tools'), detail: file.fsPath },
    { label: window, description: l10n.t('the extension and its connection') },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: l10n.t('Show Log') });
  if (picked?.label === window) ports.showChannel();
  if (picked?.label === host)
    try {
      await vscode.window.showTextDocument(file, { preview: true });
    } catch (error) {
      ports.log(`the log could not be opened: ${messageOf(error)}`);
      throw error;
    }
}

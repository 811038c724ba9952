import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import { type Host, isElsewhere } from '../hosts/hosts.ts';
import { type HostAge, hostAge } from './host-age.ts';
import { hostStatus } from './host-control.ts';
import type { SessionHostPorts } from './ports.ts';

/** How long after a turn's end an older host is looked at: other things may begin at once. */
const LOOK_AFTER_MS = 2_000;

/**
 * Says once of each host of this machine that it is of another version than this window, and takes a newer one as soon
 * as nobody needs the older one: that is found out whenever a turn has ended.
 */
export function watchHostVersion(ports: SessionHostPorts): Disposable {
  const { hosts, hub, version, log } = ports;
  const store = new DisposableStore();
  const told = new Set<number>();
  let timer: NodeJS.Timeout | null = null;
  store.add(
    hosts.onDidChange(({ host, state }) => {
      const age = isElsewhere(host) ? null : hostAge(state, version);
      if (age === null || told.has(age.pid)) return;
      told.add(age.pid);
      void tell(host, age).catch((error: unknown) => log(messageOf(error)));
    }),
  );
  store.add(
    hub.onDidChange(({ change }) => {
      if (change.kind !== 'turn_ended' || hostAge(hosts.own.agent.state, version)?.isOlder !== true)
        return;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => {
        replaceIfFree(ports).catch((error: unknown) => log(messageOf(error)));
      }, LOOK_AFTER_MS);
    }),
  );
  return {
    dispose: () => {
      if (timer !== null) clearTimeout(timer);
      store.dispose();
    },
  };
}

/** The door that comes next asks an older host to make room, which it does if it has no client and no work. */
async function replaceIfFree({ hosts, hub, program, log }: SessionHostPorts): Promise<void> {
  const isBusy = hub
    .live()
    .some(({ isRunning, sessionId }) => isRunning || hub.gates.ofSession(sessionId).length > 0);
  const status = isBusy ? null : await hostStatus(program(hosts.own));
  if (status === null || status.pid === null || status.clients > 1) return;
  log('the older session host is not needed any more: a new one takes its place');
  await hosts.own.agent.restart();
}

async function tell(host: Host, { version, isOlder }: HostAge): Promise<void> {
  if (isOlder) {
    const restart = l10n.t('Restart Host Now');
    const picked = await vscode.window.showInformationMessage(
      l10n.t(
        'Sessions run in an older Pilothouse host ({0}), kept because it works. It is replaced when nothing runs.',
        version,
      ),
      restart,
    );
    if (picked === restart)
      await vscode.commands.executeCommand('pilothouse.restartAgent', { hostId: host.id });
    return;
  }
  const reload = l10n.t('Reload Window');
  const picked = await vscode.window.showInformationMessage(
    l10n.t(
      'Sessions run in a newer Pilothouse host ({0}), which another window brought. Reload this window to use the same version.',
      version,
    ),
    reload,
  );
  if (picked === reload) await vscode.commands.executeCommand('workbench.action.reloadWindow');
}

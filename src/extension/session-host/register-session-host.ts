import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { registerCommands } from '../commands/register.ts';
import type { Services } from '../commands/services.ts';
import { onDemand } from '../commands/tables/on-demand.ts';
import type { SessionHostPorts } from './ports.ts';
import { watchHostVersion } from './version-notice.ts';

const COMMANDS = [
  'pilothouse.showHostStatus',
  'pilothouse.stopHost',
  'pilothouse.restartAgent',
  'pilothouse.showLog',
];

/** Registers the commands about the process that sessions live in, and follows its version. */
export function registerSessionHost(
  { hub, hosts, log }: Services,
  own: Pick<SessionHostPorts, 'version' | 'program'>,
): Disposable {
  const ports: SessionHostPorts = {
    ...own,
    hub,
    hosts,
    showChannel: () => log.show(),
    log: (message) => log.info(message),
  };
  const commands = onDemand(COMMANDS, async () => {
    const { createHostProcessCommands } = await import('../control/bundle.ts');
    return createHostProcessCommands(ports);
  });
  const store = new DisposableStore();
  store.add(registerCommands(commands, log));
  store.add(watchHostVersion(ports));
  return store;
}

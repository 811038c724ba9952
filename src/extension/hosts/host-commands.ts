import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { CodedError } from '../../base/errors.ts';
import { hostIdOf } from '../commands/picks/arguments.ts';
import type { CommandTable } from '../commands/services.ts';
import { baseName } from '../sessions/tree/tree-model.ts';
import { type AddedHost, type HostId, type NewHost, placeOf, urlProblem } from './host.ts';
import type { HostRegistry } from './host-registry.ts';

/** What the commands that ask a person work with. */
export type HostCommandPorts = {
  readonly registry: HostRegistry;
  /** The data folder of the window's own host. */
  readonly ownFolder: () => Promise<string>;
  readonly isDown: (id: HostId) => boolean;
  /** Connects anew; rejects with a `CodedError` that says what to do. */
  readonly reconnect: (id: HostId) => Promise<void>;
};

/** Commands that add, name and remove hosts. */
export function hostCommands(ports: HostCommandPorts): CommandTable {
  const { registry } = ports;
  const about =
    (run: (host: AddedHost) => Promise<unknown>) =>
    async (argument?: unknown): Promise<unknown> => {
      const id = hostIdOf(argument) ?? (await pickHost(registry));
      const host = id === undefined ? null : registry.get(id);
      return host ? run(host) : undefined;
    };
  return {
    'pilothouse.addHost': async () => addHost(ports),
    'pilothouse.renameHost': about(async (host) => {
      const name = await askName(l10n.t('Rename Host'), host.name);
      if (name !== undefined) await registry.rename(host.id, name);
    }),
    'pilothouse.removeHost': about(async (host) => removeHost(registry, host)),
    'pilothouse.setHostToken': about(async (host) => {
      const token = await askToken(host.name);
      if (token === undefined) return;
      await registry.setToken(host.id, token === '' ? null : token);
      await ports.reconnect(host.id);
    }),
  };
}

/** Lets a person choose one of the added hosts; undefined if they gave up or there is none. */
export async function pickHost(registry: HostRegistry): Promise<HostId | undefined> {
  const items = registry
    .all()
    .map((host) => ({ label: host.name, description: placeOf(host), id: host.id }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('No host was added. Use Add Host first.'));
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(items, {
    placeHolder: l10n.t('Choose a host'),
    matchOnDescription: true,
  });
  return picked?.id;
}

async function addHost(ports: HostCommandPorts): Promise<HostId | undefined> {
  const kind = await askKind();
  if (kind === undefined) return undefined;
  const found = kind === 'folder' ? await askDataFolder(ports) : await askAddress();
  if (found === undefined) return undefined;
  const name = await askName(l10n.t('Add Host'), found.name);
  if (name === undefined) return undefined;
  const token = found.kind === 'ws' ? await askToken(name) : '';
  if (token === undefined) return undefined;
  const added = await ports.registry.add({ ...found, name }, token === '' ? null : token);
  await vscode.commands.executeCommand('workbench.view.extension.pilothouse');
  await ports.reconnect(added.id);
  return added.id;
}

async function askKind(): Promise<AddedHost['kind'] | undefined> {
  const items = [
    {
      label: `$(folder-library) ${l10n.t('Another data folder')}`,
      detail: l10n.t('Sessions on this machine that are kept in another folder'),
      place: 'folder' as const,
    },
    {
      label: `$(remote) ${l10n.t('Another machine')}`,
      detail: l10n.t('An address that begins with wss:// or ws://, served by “agent-core serve”'),
      place: 'ws' as const,
    },
  ];
  const options = { title: l10n.t('Add Host'), placeHolder: l10n.t('Where are the sessions?') };
  return (await vscode.window.showQuickPick(items, options))?.place;
}

async function askDataFolder(ports: HostCommandPorts): Promise<NewHost | undefined> {
  const [picked] =
    (await vscode.window.showOpenDialog({
      title: l10n.t('Add Host'),
      openLabel: l10n.t('Use as Data Folder'),
      canSelectFiles: false,
      canSelectFolders: true,
    })) ?? [];
  if (!picked) return undefined;
  const dataFolder = picked.fsPath;
  if (resolve(dataFolder) === resolve(await ports.ownFolder()))
    throw new CodedError(
      'host.known',
      l10n.t('This is the folder of this window’s own sessions: they are in the list already.'),
    );
  if (!existsSync(vscode.Uri.joinPath(picked, DATABASE).fsPath)) {
    const use = l10n.t('Use It');
    const answer = await vscode.window.showWarningMessage(
      l10n.t('There are no sessions in {0} yet. Keep sessions there from now on?', dataFolder),
      { modal: true },
      use,
    );
    if (answer !== use) return undefined;
  }
  return { kind: 'folder', dataFolder, name: baseName(dataFolder) };
}

/** The file in a data folder that holds the sessions. */
const DATABASE = 'sessions.db';

async function askAddress(): Promise<NewHost | undefined> {
  const typed = await vscode.window.showInputBox({
    title: l10n.t('Add Host'),
    prompt: l10n.t('Address of the host'),
    placeHolder: 'wss://host.example:8443/acp',
    ignoreFocusOut: true,
    validateInput: (value) => problemText(value.trim()),
  });
  const url = typed?.trim();
  if (url === undefined) return undefined;
  if (urlProblem(url) === 'no_encryption' && !(await acceptsPlain(url))) return undefined;
  return { kind: 'ws', url, name: new URL(url).host };
}

function problemText(value: string): string | null {
  switch (urlProblem(value)) {
    case 'no_address':
    case 'wrong_scheme':
      return l10n.t('Enter an address that begins with wss:// or ws://');
    case 'has_secret':
      return l10n.t('Leave the token out of the address: it is asked for next and kept secret.');
    case 'no_encryption':
    case null:
      return null;
  }
}

async function acceptsPlain(url: string): Promise<boolean> {
  const go = l10n.t('Connect Anyway');
  const answer = await vscode.window.showWarningMessage(
    l10n.t('{0} is not encrypted.', url),
    {
      modal: true,
      detail: l10n.t(
        'Everybody on the way can read the token and what the sessions say and do. Use wss://, or an SSH tunnel to a local port.',
      ),
    },
    go,
  );
  return answer === go;
}

async function askName(title: string, value: string): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title,
    prompt: l10n.t('How shall the host be called?'),
    value,
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? l10n.t('This is required.') : null),
  });
  return typed?.trim();
}

/** Empty: it needs none. */
async function askToken(name: string): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title: l10n.t('Set Host Token'),
    prompt: l10n.t(
      'Token for “{0}”. It is kept in the secret storage of the editor. Leave it empty if the host needs none.',
      name,
    ),
    password: true,
    ignoreFocusOut: true,
  });
  return typed?.trim();
}

async function removeHost(registry: HostRegistry, host: AddedHost): Promise<void> {
  const remove = l10n.t('Remove');
  const answer = await vscode.window.showWarningMessage(
    l10n.t('Remove “{0}” from the list?', host.name),
    {
      modal: true,
      detail: l10n.t(
        'Its sessions stay where they are, and what runs there goes on. Its token is forgotten.',
      ),
    },
    remove,
  );
  if (answer === remove) await registry.remove(host.id);
}

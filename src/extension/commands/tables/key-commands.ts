import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { isObject } from '../../../base/json.ts';
import { ENDPOINTS } from '../../settings/endpoints.ts';
import { settings } from '../../settings/settings.ts';
import type { CommandTable, Services } from '../services.ts';
import { connectModel } from './connect-model.ts';
import { storeKey } from './store-key.ts';

/** Commands for models and their keys. */
export function keyCommands(services: Services): CommandTable {
  return {
    'pilothouse.connectModel': async () => connectModel(services),
    'pilothouse.setApiKey': async (argument) => setKey(services, argument),
    'pilothouse.removeApiKey': async () => removeKey(services),
  };
}

/** Resolves to true if a key was stored. */
async function setKey(services: Services, argument: unknown): Promise<boolean> {
  const named = isObject(argument) ? argument['source'] : undefined;
  const source = typeof named === 'string' ? named : await pickSource();
  if (!source) return false;
  const key = await vscode.window.showInputBox({
    title: l10n.t('Set API Key'),
    prompt: l10n.t('API key for {0}. It is kept in the secret storage of the editor.', source),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined || key.trim() === '') return false;
  await storeKey(services, source, key.trim());
  return true;
}

async function pickSource(): Promise<string | undefined> {
  const configured = settings.providers().flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
  const known = ENDPOINTS.filter(({ key }) => key === 'needed').map(({ id }) => id);
  return vscode.window.showQuickPick([...new Set([...configured, ...known])], {
    title: l10n.t('Set API Key'),
    placeHolder: l10n.t('For which model source?'),
  });
}

async function removeKey({ keys, hosts }: Services): Promise<void> {
  const sources = await keys.sources();
  if (sources.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('No API key is stored.'));
    return;
  }
  const source = await vscode.window.showQuickPick(sources, {
    title: l10n.t('Remove API Key'),
    placeHolder: l10n.t('For which model source?'),
  });
  if (!source) return;
  await keys.remove(source);
  await hosts.everyLocal(async (connection) =>
    connection.request('_pilothouse/secrets/set', { source, key: null }),
  );
}

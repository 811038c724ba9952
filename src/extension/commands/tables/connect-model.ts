import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import {
  ENDPOINTS,
  type EndpointKind,
  idFromUrl,
  providerEntry,
} from '../../settings/endpoints.ts';
import { configureModels } from '../../settings/model-sources.ts';
import { type ProbeResult, probeEndpoint } from '../../settings/probe-endpoint.ts';
import { saveDefaultModel, saveProviders, settings } from '../../settings/settings.ts';
import type { Services } from '../services.ts';
import { storeKey } from './store-key.ts';

type Source = {
  readonly id: string;
  readonly kind: EndpointKind['kind'];
  readonly baseUrl: string;
};

/** The guided way to a model: which service, where, with which key, which model; tried before it is saved. */
export async function connectModel(services: Services): Promise<void> {
  const endpoint = await pickEndpoint();
  if (!endpoint) return;
  const baseUrl = await askBaseUrl(endpoint);
  if (baseUrl === undefined) return;
  const id = endpoint.id === 'custom' ? idFromUrl(baseUrl) : endpoint.id;
  const source: Source = { id, kind: endpoint.kind, baseUrl };
  const key = await askKey(endpoint, id);
  if (key === undefined) return;
  const probe = await tryOut(source, key);
  if (!(await acceptsProbe(probe))) return;
  const model = await askModel(probe);
  if (!model) return;
  await save(services, source, key, model);
  void vscode.window.showInformationMessage(
    l10n.t(
      '{0} is connected. New sessions use it; running ones can switch by Choose Model.',
      model,
    ),
  );
}

async function pickEndpoint(): Promise<EndpointKind | undefined> {
  const items = ENDPOINTS.map((endpoint) => ({
    label: endpoint.label || l10n.t('Other (OpenAI-compatible)'),
    description: endpoint.baseUrl,
    endpoint,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('Connect a Model'),
    placeHolder: l10n.t('Where does the model run?'),
    ignoreFocusOut: true,
  });
  return picked?.endpoint;
}

async function askBaseUrl(endpoint: EndpointKind): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title: l10n.t('Connect a Model'),
    prompt: l10n.t('Base URL of the service'),
    value: endpoint.baseUrl,
    ignoreFocusOut: true,
    validateInput: (value) =>
      /^https?:\/\//.test(value) && URL.canParse(value)
        ? null
        : l10n.t('Enter an address that begins with http:// or https://'),
  });
  return typed?.replace(/\/+$/, '');
}

async function askKey(endpoint: EndpointKind, id: string): Promise<string | undefined> {
  if (endpoint.key === 'none') return '';
  return vscode.window.showInputBox({
    title: l10n.t('Connect a Model'),
    prompt:
      endpoint.key === 'needed'
        ? l10n.t('API key for {0}. It is kept in the secret storage of the editor.', id)
        : l10n.t('API key for {0}, if it needs one', id),
    password: true,
    ignoreFocusOut: true,
    validateInput: (value) =>
      endpoint.key === 'needed' && value.trim() === '' ? l10n.t('This is required.') : null,
  });
}

async function tryOut(source: Source, key: string): Promise<ProbeResult> {
  return vscode.window.withProgress(
    {
      location: vscode.ProgressLocation.Notification,
      title: l10n.t('Asking {0}…', source.baseUrl),
    },
    async () => probeEndpoint(source.kind, source.baseUrl, key.trim()),
  );
}

/** Says what went wrong and lets the person go on all the same: not every service lists its models. */
async function acceptsProbe(probe: ProbeResult): Promise<boolean> {
  if (probe.kind === 'models') return true;
  const goOn = l10n.t('Continue Anyway');
  const picked = await vscode.window.showWarningMessage(problemOf(probe), goOn);
  return picked === goOn;
}

function problemOf(probe: Exclude<ProbeResult, { kind: 'models' }>): string {
  switch (probe.kind) {
    case 'key_refused':
      return l10n.t('The service refused the key. Check it and try again.');
    case 'answered':
      return l10n.t(
        'The service answered with status {0} when asked for its models.',
        probe.status,
      );
    case 'unreachable':
      return l10n.t('The service can not be reached: {0}', probe.reason);
  }
}

async function askModel(probe: ProbeResult): Promise<string | undefined> {
  const title = l10n.t('Connect a Model');
  const names = probe.kind === 'models' ? probe.names : [];
  const other = l10n.t('Type a name…');
  if (names.length > 0) {
    const picked = await vscode.window.showQuickPick([...names, other], {
      title,
      placeHolder: l10n.t('Which model?'),
      ignoreFocusOut: true,
    });
    if (picked !== other) return picked;
  }
  const typed = await vscode.window.showInputBox({
    title,
    prompt: l10n.t('Name of the model, as the service calls it'),
    ignoreFocusOut: true,
  });
  return typed?.trim();
}

async function save(services: Services, source: Source, key: string, model: string): Promise<void> {
  const before = settings.providers();
  const existing = before.find((provider) => provider['id'] === source.id);
  const others = before.filter((provider) => provider !== existing);
  if (key.trim() !== '') await storeKey(services, source.id, key.trim());
  await saveProviders([...others, providerEntry(existing, source, model)]);
  await saveDefaultModel(`${source.id}/${model}`);
  await services.hosts.everyLocal(async (connection) =>
    configureModels(connection, (text) => services.log.warn(text)),
  );
}

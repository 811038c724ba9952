import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { ListedRule } from '../../../protocol/listed-shapes.ts';
import type { CommandTable, Services } from '../services.ts';

/** Commands about the agent process, its rules, and the extension itself. */
export function agentCommands(services: Services): CommandTable {
  const { bridge, extensionId } = services;
  return {
    'pilothouse.openSettings': async () =>
      vscode.commands.executeCommand('workbench.action.openSettings', `@ext:${extensionId}`),
    'pilothouse.openWalkthrough': async () =>
      vscode.commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${extensionId}#start`,
        false,
      ),
    'pilothouse.listApprovals': async () => listRules(services, bridge.sessionId),
    'pilothouse.resetApprovals': async () => resetRules(services, bridge.sessionId),
  };
}

async function rulesOf(
  services: Services,
  sessionId: string | null,
): Promise<readonly ListedRule[]> {
  const params = sessionId === null ? {} : { sessionId };
  const connection = await services.hosts.connectFor(params);
  const { rules } = await connection.request('_pilothouse/policy/list', params);
  return rules;
}

async function listRules(services: Services, sessionId: string | null): Promise<void> {
  const rules = await rulesOf(services, sessionId);
  if (rules.length === 0) {
    void vscode.window.showInformationMessage(l10n.t('No answer is remembered.'));
    return;
  }
  const items = rules.map((rule) => ({
    label: `$(${rule.effect === 'deny' ? 'circle-slash' : 'check'}) ${rule.tool}`,
    description: `${rule.kind} ${rule.pattern}`,
    detail: `${effectName(rule.effect)} · ${scopeName(rule.scope)}`,
  }));
  await vscode.window.showQuickPick(items, {
    title: l10n.t('Remembered Approvals'),
    placeHolder: l10n.t('Use Reset Remembered Approvals to forget them'),
    matchOnDescription: true,
  });
}

async function resetRules(services: Services, sessionId: string | null): Promise<void> {
  const scopes = [
    ...(sessionId === null ? [] : (['session'] as const)),
    'workspace' as const,
    'user' as const,
    'all' as const,
  ];
  const items = scopes.map((scope) => ({ label: scopeName(scope), scope }));
  const picked = await vscode.window.showQuickPick(items, {
    title: l10n.t('Reset Remembered Approvals'),
    placeHolder: l10n.t('Which answers shall be forgotten?'),
  });
  if (!picked) return;
  const connection = await services.hosts.connectFor({ sessionId });
  const { removed } = await connection.request('_pilothouse/policy/reset', {
    scope: picked.scope,
    ...(sessionId === null ? {} : { sessionId }),
  });
  void vscode.window.showInformationMessage(
    l10n.t('{0} remembered answers were forgotten.', removed),
  );
}

function scopeName(scope: ListedRule['scope'] | 'all'): string {
  switch (scope) {
    case 'session':
      return l10n.t('this session');
    case 'workspace':
      return l10n.t('this folder');
    case 'user':
      return l10n.t('all folders');
    case 'all':
      return l10n.t('everything');
  }
}

function effectName(effect: ListedRule['effect']): string {
  switch (effect) {
    case 'allow':
      return l10n.t('allowed');
    case 'deny':
      return l10n.t('denied');
    case 'ask':
      return l10n.t('asked each time');
  }
}

import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { choicesOf, optionOf } from '../../sessions/session-facts.ts';
import { targetOf } from '../picks/arguments.ts';
import { pickSession } from '../picks/pick-session.ts';
import type { CommandTable, Services } from '../services.ts';

/** Commands that change a session's options. */
export function optionCommands(services: Services): CommandTable {
  const choose =
    (category: string) =>
    async (argument?: unknown): Promise<void> =>
      chooseOption(services, category, argument);
  return {
    'pilothouse.chooseModel': choose('model'),
    'pilothouse.chooseMode': choose('mode'),
    'pilothouse.setThoughtLevel': choose('thought_level'),
    'pilothouse.setBudget': choose('budget'),
    'pilothouse.chooseJudge': choose('judge'),
  };
}

async function chooseOption(
  services: Services,
  category: string,
  argument: unknown,
): Promise<void> {
  const sessionId =
    targetOf(argument).sessionId ?? services.bridge.sessionId ?? (await pickSession(services));
  if (!sessionId) return;
  const session = await services.hub.open(sessionId);
  const option = optionOf(session.facts.options, category);
  if (option?.type !== 'select') {
    void vscode.window.showInformationMessage(l10n.t('This session has no such option.'));
    return;
  }
  const items = choicesOf(option).map((choice) => ({
    label: choice.name,
    description: choice.value === option.currentValue ? l10n.t('current') : (choice.group ?? ''),
    ...(choice.description ? { detail: choice.description } : {}),
    value: choice.value,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: option.name,
    placeHolder: session.isRunning
      ? l10n.t('Takes effect from the next turn')
      : (option.description ?? option.name),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!picked) return;
  await session.setOption(option.id, picked.value);
  if (session.isRunning)
    void vscode.window.showInformationMessage(l10n.t('Applies from the next turn'));
}

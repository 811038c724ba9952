import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { isObject } from '../../../base/json.ts';
import { askNatively } from '../../approvals/answer-gate.ts';
import { allowOption, type Gate, gateTitle, rejectOption } from '../../approvals/gate.ts';
import { sessionName } from '../../sessions/tree/tree-model.ts';
import { targetOf } from '../picks/arguments.ts';
import { pickSession } from '../picks/pick-session.ts';
import { isBusy } from '../picks/running-session.ts';
import type { CommandTable, Services } from '../services.ts';

/** Commands that stop sessions and answer what they ask. */
export function controlCommands(services: Services): CommandTable {
  return {
    'pilothouse.stop': async (argument) => {
      const sessionId = targetOf(argument).sessionId ?? (await sessionToStop(services));
      if (sessionId) await services.hub.stop(sessionId);
    },
    'pilothouse.stopAll': async () => {
      const busy = services.tree.views().filter(({ state }) => isBusy(state));
      await Promise.all(busy.map(async ({ row }) => services.hub.stop(row.sessionId)));
    },
    'pilothouse.approve': async (argument) => {
      const gate = await targetGate(services, argument);
      if (!gate) return;
      const allow = wantsToBeAsked(argument) ? null : allowOption(gate);
      if (allow) answer(services, gate, allow.optionId);
      else await askAndAnswer(services, gate);
    },
    'pilothouse.reject': async (argument) => {
      const gate = await targetGate(services, argument);
      if (!gate) return;
      const reject = rejectOption(gate);
      if (reject) answer(services, gate, reject.optionId);
      else services.hub.gates.answer(gate.gateId, { kind: 'declined' });
    },
    'pilothouse.showApprovals': async () => {
      const gate = await pickGate(services);
      if (gate) await openGate(services, gate);
    },
  };
}

/** Shows a gate in the chat of its session. */
export async function openGate(services: Services, gate: Gate): Promise<void> {
  if (gate.sessionId === '') {
    await askAndAnswer(services, gate);
    return;
  }
  await services.showSession(gate.sessionId);
  services.bridge.push({ type: 'reveal', id: gate.gateId });
}

/** One that runs is stopped at once; several are asked about. The one in the chat is not preferred silently. */
async function sessionToStop(services: Services): Promise<string | undefined> {
  const busy = services.tree.views().filter(({ state }) => isBusy(state));
  const [first] = busy;
  if (first && busy.length === 1) return first.row.sessionId;
  // Nothing seems to run: a cancel for the session in the chat goes out all the same.
  if (!first) return services.bridge.sessionId ?? undefined;
  return pickSession(services, ({ state }) => isBusy(state), l10n.t('Which session shall stop?'));
}

function wantsToBeAsked(argument: unknown): boolean {
  return isObject(argument) && argument['ask'] === true;
}

async function targetGate(services: Services, argument: unknown): Promise<Gate | null> {
  const { gates } = services.hub;
  const { gateId, sessionId } = targetOf(argument);
  if (gateId !== undefined) return gates.get(gateId);
  const own = sessionId === undefined ? gates.all() : gates.ofSession(sessionId);
  const [first] = own;
  if (!first && sessionId !== undefined && !services.hub.get(sessionId)?.isAttached) {
    await services.showSession(sessionId);
    return null;
  }
  return first && own.length === 1 ? first : pickGate(services, first ? own : undefined);
}

async function pickGate(services: Services, from?: readonly Gate[]): Promise<Gate | null> {
  const gates = from ?? services.hub.gates.all();
  if (gates.length === 0) {
    // A session that is not followed here waits for whoever opens it: then it asks here too.
    const waiting = services.tree.views().find(({ questions }) => questions > 0);
    if (waiting && from === undefined) {
      await services.showSession(waiting.row.sessionId);
      return null;
    }
    void vscode.window.showInformationMessage(l10n.t('Nothing waits for an answer.'));
    return null;
  }
  const items = gates.map((gate) => ({
    label: gateTitle(gate),
    description: nameOf(services, gate.sessionId),
    detail: gate.question.kind === 'permission' ? gate.question.details.join(' · ') : '',
    gate,
  }));
  const [only] = items;
  if (only && items.length === 1) return only.gate;
  const placeHolder = l10n.t('Which question?');
  return (await vscode.window.showQuickPick(items, { placeHolder }))?.gate ?? null;
}

function nameOf({ hub }: Services, sessionId: string): string {
  return sessionName(hub.directory.get(sessionId)?.title ?? '');
}

function answer(services: Services, gate: Gate, optionId: string): void {
  services.hub.gates.answer(gate.gateId, { kind: 'selected', optionId });
}

async function askAndAnswer(services: Services, gate: Gate): Promise<void> {
  const given = await askNatively(gate, nameOf(services, gate.sessionId));
  if (given === null || services.hub.gates.answer(gate.gateId, given)) return;
  void vscode.window.showInformationMessage(l10n.t('This was answered already.'));
}

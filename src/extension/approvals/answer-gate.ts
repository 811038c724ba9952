import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import type { Json } from '../../base/json.ts';
import { type FormField, formFields } from './form-fields.ts';
import type { Gate, GateAnswer, GateQuestion } from './gate.ts';

type Question<K extends GateQuestion['kind']> = Extract<GateQuestion, { kind: K }>;

/** Asks a gate by the editor's own inputs. Null means: no answer; the gate stays open. */
export async function askNatively(gate: Gate, title: string): Promise<GateAnswer | null> {
  switch (gate.question.kind) {
    case 'permission':
      return askPermission(gate.question, title);
    case 'ask':
      return askForm(gate.question, title);
    case 'auth':
      return askSignIn(gate.question, title);
  }
}

async function askPermission(
  question: Question<'permission'>,
  title: string,
): Promise<GateAnswer | null> {
  const items = question.options.map((option) => ({
    label: option.name,
    iconPath: new vscode.ThemeIcon(option.kind.startsWith('allow') ? 'check' : 'close'),
    optionId: option.optionId,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: [question.title, ...question.details].join(' — '),
    ignoreFocusOut: true,
  });
  return picked ? { kind: 'selected', optionId: picked.optionId } : null;
}

async function askForm(question: Question<'ask'>, title: string): Promise<GateAnswer | null> {
  const fields = formFields(question.schema);
  const content: Record<string, Json> = {};
  for (const [at, field] of fields.entries()) {
    const step = fields.length > 1 ? `${title} (${at + 1}/${fields.length})` : title;
    const value = await askField(field, step, question.message);
    if (value === undefined) return null;
    if (value !== null) content[field.name] = value;
  }
  return { kind: 'accepted', content };
}

/** Undefined: given up. Null: left empty. */
async function askField(
  field: FormField,
  title: string,
  message: string,
): Promise<Json | null | undefined> {
  const prompt = field.description || message;
  const options = { title, placeHolder: `${field.label}: ${prompt}`, ignoreFocusOut: true };
  const { input } = field;
  switch (input.kind) {
    case 'yes_no': {
      const yes = l10n.t('Yes');
      const picked = await vscode.window.showQuickPick([yes, l10n.t('No')], options);
      return picked === undefined ? undefined : picked === yes;
    }
    case 'one': {
      const items = input.choices.map((choice) => ({ ...choice }));
      return (await vscode.window.showQuickPick(items, options))?.value;
    }
    case 'many': {
      const items = input.choices.map((choice) => ({ ...choice }));
      const many = await vscode.window.showQuickPick(items, { ...options, canPickMany: true });
      return many?.map((item) => item.value);
    }
    case 'text':
    case 'number': {
      const typed = await vscode.window.showInputBox({
        title,
        prompt: `${message} ${field.label === field.name ? '' : field.label}`.trim(),
        placeHolder: field.description,
        value: input.initial,
        ignoreFocusOut: true,
        validateInput: (value) => field.problem(value),
      });
      if (typed === undefined) return undefined;
      return typed === '' && !field.required ? null : field.parse(typed);
    }
  }
}

async function askSignIn(question: Question<'auth'>, title: string): Promise<GateAnswer | null> {
  if (question.url !== undefined) {
    await vscode.env.openExternal(vscode.Uri.parse(question.url, true));
    const done = l10n.t('Continue');
    const cancel = l10n.t('Cancel Sign-In');
    const picked = await vscode.window.showQuickPick([done, cancel], {
      title,
      placeHolder: l10n.t('{0} Continue here when you have signed in.', question.message),
      ignoreFocusOut: true,
    });
    if (picked === undefined) return null;
    return picked === done ? { kind: 'accepted', content: {} } : { kind: 'cancelled' };
  }
  if (question.waitsFor !== undefined) {
    const again = l10n.t('Continue');
    const picked = await vscode.window.showQuickPick([again], {
      title,
      placeHolder: question.message,
      ignoreFocusOut: true,
    });
    return picked === undefined ? null : { kind: 'accepted', content: {} };
  }
  const stored = await vscode.commands.executeCommand<boolean>('pilothouse.setApiKey', {
    source: question.target,
  });
  return stored === true ? { kind: 'accepted', content: {} } : null;
}

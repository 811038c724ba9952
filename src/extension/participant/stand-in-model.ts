import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';

/** The vendor of the stand-in. */
export const STAND_IN_VENDOR = 'pilothouse';
/** The vendor whose models the editor falls back to. */
const DEFAULT_VENDOR = 'copilot';

/**
 * The editor refuses a request to any chat participant while no language model can be chosen, also where the
 * participant needs none. Where the person has no models of the editor's default vendor this entry stands in:
 * `@pilothouse` then answers with the session's own model.
 */
export function registerStandInModel(log: (message: string) => void): Disposable {
  const store = new DisposableStore();
  const changed = store.add(new vscode.EventEmitter<void>());
  let isNeeded = true;
  store.add(
    vscode.lm.registerLanguageModelChatProvider(STAND_IN_VENDOR, {
      onDidChangeLanguageModelChatInformation: changed.event,
      // Asking for other models in here would make everybody who lists models wait for those twice.
      provideLanguageModelChatInformation: () => (isNeeded ? [standIn()] : []),
      provideLanguageModelChatResponse: async (_model, _messages, _options, progress) => {
        const text = l10n.t(
          'This entry only lets @pilothouse answer in this chat. Begin your message with @pilothouse.',
        );
        progress.report(new vscode.LanguageModelTextPart(text));
      },
      provideTokenCount: async (_model, text) =>
        typeof text === 'string' ? Math.ceil(text.length / 4) : 0,
    }),
  );
  const look = async (): Promise<void> => {
    const others = await vscode.lm.selectChatModels({ vendor: DEFAULT_VENDOR });
    if (isNeeded !== others.length > 0) return;
    isNeeded = others.length === 0;
    changed.fire();
  };
  const onError = (error: unknown): void => log(`the stand-in model: ${messageOf(error)}`);
  // The editor's picker knows a provider's models only after somebody asked for them.
  vscode.lm.selectChatModels({ vendor: STAND_IN_VENDOR }).then(look).then(undefined, onError);
  return store;
}

function standIn(): vscode.LanguageModelChatInformation {
  return {
    id: 'session',
    name: l10n.t('Pilothouse (the session’s model)'),
    family: 'pilothouse',
    version: '1',
    tooltip: l10n.t('@pilothouse answers with the model that its session uses.'),
    maxInputTokens: 100_000,
    maxOutputTokens: 100_000,
    // Without it the picker hides the entry where it is needed most: in Agent mode.
    capabilities: { toolCalling: true },
  };
}

import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type {
  EditorGenerateParams,
  EditorModel,
  EditorPart,
} from '../../protocol/editor-models.ts';
import { RpcError } from '../../protocol/errors.ts';
import { badParams, type ClientCalls } from '../core/client-requests.ts';
import type { AgentConnection } from '../core/connection.ts';
import type { HostId } from '../hosts/host.ts';
import { STAND_IN_VENDOR } from '../participant/stand-in-model.ts';
import { chatMessages } from './editor-messages.ts';
import { GENERATE } from './generate-params.ts';

/** What the bridge needs: where the agent's calls come in, and a way to tell it something. */
export type EditorModelPorts = {
  readonly calls: ClientCalls;
  /** Where a host can be told something; null while it is not connected. */
  readonly connection: (host: HostId) => Pick<AgentConnection, 'notify'> | null;
  /** Every host that is connected. */
  readonly connected: () => readonly HostId[];
  readonly log: (message: string) => void;
};

type Finish = 'stop' | 'tool_calls';

/** `data.code` of a refusal, by the code that the editor gives. Source: VS Code API, `LanguageModelError`. */
const CODES: Readonly<Record<string, string>> = {
  NoPermissions: 'editor_model.no_permission',
  Blocked: 'editor_model.blocked',
  NotFound: 'editor_model.not_found',
};

/**
 * Lets the agent use the language models that other extensions offer in this editor. It asks for a reply only inside
 * a turn, which a person began: the editor may then ask for consent.
 */
export function registerEditorModels(ports: EditorModelPorts): Disposable {
  const store = new DisposableStore();
  const { calls, log } = ports;
  store.add(
    calls.onRequest('_pilothouse/editor_models/list', async () => ({ models: await list() })),
  );
  store.add(
    calls.onRequest('_pilothouse/editor_models/generate', async (params, signal, host) => {
      const parsed = z.safeParse(GENERATE, params);
      if (!parsed.success)
        throw badParams('_pilothouse/editor_models/generate', parsed.error.message);
      return { finish: await generate(ports, host, parsed.data, signal) };
    }),
  );
  store.add(
    vscode.lm.onDidChangeChatModels(() => {
      for (const host of ports.connected())
        ports
          .connection(host)
          ?.notify('_pilothouse/editor_models/changed', {})
          .catch((error: unknown) =>
            log(`the agent was not told of new models: ${messageOf(error)}`),
          );
    }),
  );
  return store;
}

async function list(): Promise<EditorModel[]> {
  const models = await vscode.lm.selectChatModels({});
  // Our own stand-in only answers for the chat participant.
  const offered = models.filter(({ vendor }) => vendor !== STAND_IN_VENDOR);
  return offered.map((model) => ({
    vendor: model.vendor,
    family: model.family,
    id: model.id,
    name: model.name,
    maxInputTokens: model.maxInputTokens,
    images: takesImages(model),
  }));
}

/** The editor has no stable word for it: what it does not say is not there. */
function takesImages(model: vscode.LanguageModelChat): boolean {
  const capabilities: unknown = Reflect.get(model, 'capabilities');
  return isObject(capabilities) && capabilities['supportsImageToText'] === true;
}

async function generate(
  ports: EditorModelPorts,
  host: HostId,
  params: EditorGenerateParams,
  signal: AbortSignal,
): Promise<Finish> {
  const source = new vscode.CancellationTokenSource();
  const onAbort = (): void => source.cancel();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const [model] = await vscode.lm.selectChatModels({ id: params.modelId });
    if (!model) throw vscode.LanguageModelError.NotFound(params.modelId);
    const response = await model.sendRequest(
      chatMessages(params),
      {
        justification: l10n.t('A Pilothouse session that you started uses this model.'),
        tools: params.tools.map((tool) => ({ ...tool })),
      },
      source.token,
    );
    const send = async (part: EditorPart): Promise<void> =>
      ports
        .connection(host)
        ?.notify('_pilothouse/editor_models/part', { requestId: params.requestId, part });
    return await pump(send, response, signal);
  } catch (error) {
    throw refusal(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
    source.dispose();
  }
}

/** Hands the parts on in order; each was sent before the next is read. */
async function pump(
  send: (part: EditorPart) => Promise<void>,
  response: vscode.LanguageModelChatResponse,
  signal: AbortSignal,
): Promise<Finish> {
  let finish: Finish = 'stop';
  for await (const piece of response.stream) {
    signal.throwIfAborted();
    const part = editorPart(piece);
    if (!part) continue;
    if (part.type === 'tool_call') finish = 'tool_calls';
    await send(part);
  }
  // A cancelled stream just ends: that is not a complete reply.
  signal.throwIfAborted();
  return finish;
}

function editorPart(piece: unknown): EditorPart | null {
  if (piece instanceof vscode.LanguageModelTextPart)
    return piece.value === '' ? null : { type: 'text', text: piece.value };
  if (piece instanceof vscode.LanguageModelToolCallPart)
    return {
      type: 'tool_call',
      callId: piece.callId,
      name: piece.name,
      input: jsonOf(piece.input),
    };
  return null;
}

/** The input went through the editor's own JSON: it is one. */
function jsonOf(input: object): JsonObject {
  const parsed = z.safeParse(z.record(z.string(), z.json()), input);
  return parsed.success ? parsed.data : {};
}

function refusal(error: unknown): RpcError {
  const known = error instanceof vscode.LanguageModelError ? CODES[error.code] : undefined;
  return new RpcError('internalError', messageOf(error), {
    code: known ?? 'editor_model.failed',
  });
}

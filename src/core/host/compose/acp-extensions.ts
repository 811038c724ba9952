import { DisposableStore } from '../../../base/disposables.ts';
import { RpcError } from '../../../protocol/errors.ts';
import type { ChangedFile } from '../../../protocol/listed-shapes.ts';
import type { ExtensionHandlers, Extensions } from '../../acp/types.ts';
import type { OpenJournal } from '../../journal/open-journal.ts';
import type { RememberScope, Workspace } from '../../session/tool.ts';
import type { SessionId } from '../../session/words.ts';
import type { RememberingPolicy } from '../../tools/policy/create-policy.ts';
import { countLines } from '../changes/changed-lines.ts';
import type { FileChange } from '../changes/changes.ts';
import { unknownSession } from '../errors.ts';
import type { ImportSource } from '../import/import-source.ts';
import type { LocalSessionHost } from '../session-host.ts';
import type { EditorBridge } from './editor-bridge.ts';
import type { ModelSettings } from './model-settings.ts';
import type { SessionFeed } from './session-feed.ts';
import type { Transcripts } from './transcripts.ts';

/** What the `_pilothouse/` methods act on. */
export type ExtensionParts = {
  readonly host: LocalSessionHost;
  readonly models: ModelSettings;
  readonly policy: RememberingPolicy;
  readonly editor: EditorBridge;
  readonly feed: SessionFeed;
  readonly transcripts: Transcripts;
  readonly journal: Pick<OpenJournal, 'fault'>;
  /** Absolute. */
  readonly dataFolder: string;
};

const SCOPES: readonly RememberScope[] = ['session', 'workspace', 'user'];
const NOWHERE: Workspace = { cwd: '', roots: [] };

/** The `_pilothouse/` methods that the host's rooms answer. */
export function acpExtensions(parts: ExtensionParts): Extensions {
  const { host, models, editor, feed } = parts;
  return {
    handlers: {
      ...modelHandlers(models),
      ...policyHandlers(parts),
      ...changeHandlers(host),
      ...transferHandlers(host),
      ...storeHandlers(parts),
      ...parts.transcripts.handlers,
    },
    connected: (client) => {
      const store = new DisposableStore();
      store.add(editor.connect(client));
      store.add(models.catalog.onDidChange(() => client.notify('_pilothouse/models/changed', {})));
      return store;
    },
    onModelsChanged: (listener) => models.catalog.onDidChange(() => listener()),
    onSessionChanged: feed.onDidChange,
    onSessionDeleted: host.onDidDeleteSession,
  };
}

/** A fault of one session is not one of the store: the session's own answers tell it. */
function storeHandlers({ journal, dataFolder }: ExtensionParts): ExtensionHandlers {
  return {
    '_pilothouse/store/status': async () => {
      const { fault } = journal;
      return fault === null
        ? { ok: true, dataFolder }
        : { ok: false, code: fault.code, message: fault.message, dataFolder };
    },
  };
}

function modelHandlers(models: ModelSettings): ExtensionHandlers {
  return {
    '_pilothouse/secrets/set': async ({ source, key }) => {
      if (key === null) models.secrets.delete(source);
      else models.secrets.set(source, key);
      return {};
    },
    '_pilothouse/models/configure': async ({ providers, defaultModel }) => ({
      problems: await models.configure(providers, defaultModel),
    }),
    '_pilothouse/models/list': async () => ({
      models: (await models.catalog.list()).map((info) => ({ ...info })),
    }),
  };
}

function policyHandlers({ host, policy }: ExtensionParts): ExtensionHandlers {
  const where = async (
    sessionId: string | undefined,
  ): Promise<{ id: SessionId; workspace: Workspace }> => {
    if (sessionId === undefined) return { id: '' as SessionId, workspace: NOWHERE };
    const id = sessionId as SessionId;
    const described = await host.describe(id);
    if (described === null) throw unknownSession(sessionId);
    return {
      id,
      workspace: host.live(id)?.session.workspace ?? {
        cwd: described.cwd,
        roots: [described.cwd, ...described.additionalDirectories],
      },
    };
  };
  return {
    '_pilothouse/policy/list': async ({ sessionId }) => {
      const { id, workspace } = await where(sessionId);
      const rules = await policy.listRules(id, workspace);
      return { rules: rules.map(({ scope, rule }) => ({ scope, ...rule })) };
    },
    '_pilothouse/policy/reset': async ({ scope, sessionId }) => {
      const { id, workspace } = await where(sessionId);
      const before = await policy.listRules(id, workspace);
      for (const one of SCOPES)
        if (scope === 'all' || scope === one) await policy.resetRules(one, id, workspace);
      return { removed: before.length - (await policy.listRules(id, workspace)).length };
    },
  };
}

function changeHandlers(host: LocalSessionHost): ExtensionHandlers {
  return {
    '_pilothouse/changes/list': async ({ sessionId }) => {
      const changes = await host.changes(sessionId as SessionId);
      return { files: changes.list().map(toChangedFile) };
    },
    '_pilothouse/changes/text': async ({ sessionId, path, side }) => {
      const change = (await host.changes(sessionId as SessionId)).get(path);
      return { text: change === undefined ? null : change[side] };
    },
  };
}

function transferHandlers({ transfers }: LocalSessionHost): ExtensionHandlers {
  return {
    '_pilothouse/sessions/export': async ({ sessionId, format, path }) => {
      const { bytes, text, ...to } = await transfers.export(sessionId as SessionId, format, path);
      return {
        bytes,
        ...(text === undefined ? {} : { text }),
        ...(to.path === undefined ? {} : { path: to.path }),
      };
    },
    '_pilothouse/sessions/import': async ({ path, text, cwd }) => {
      const { sessionId, events, prefixHash } = await transfers.import(sourceOf(path, text), cwd);
      return { sessionId, events, prefixHash };
    },
  };
}

function sourceOf(path: string | undefined, text: string | undefined): ImportSource {
  if (path !== undefined && text === undefined) return { path };
  if (text !== undefined && path === undefined) return { text };
  throw new RpcError('invalidParams', 'Invalid params: give either the path or the text.');
}

function toChangedFile({ path, before, after }: FileChange): ChangedFile {
  return {
    path,
    state: before === null ? 'added' : 'modified',
    ...countLines(before ?? '', after),
  };
}

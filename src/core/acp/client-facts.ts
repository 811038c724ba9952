import { isObject } from '../../base/json.ts';
import type { InitializeRequest } from '../../protocol/acp.ts';
import type { OnDetach } from '../../protocol/session-clients.ts';
import { PILOTHOUSE_VERSION } from '../../protocol/versions.ts';
import { metaOf } from './params.ts';
import type { Audience } from './projection/projected.ts';

/** What a client said about itself, with everything it did not say or said wrongly taken as no. */
export type ClientFacts = {
  readonly name: string;
  /** What a person would call it; null where it did not say. */
  readonly title: string | null;
  /** What is to become of its sessions' work when it goes; null where it did not say. */
  readonly onDetach: OnDetach | null;
  readonly canReadFiles: boolean;
  readonly canWriteFiles: boolean;
  readonly notices: boolean;
  /** It takes compaction updates. */
  readonly compaction: boolean;
  readonly forms: boolean;
  readonly urls: boolean;
  /** It knows the Harn control extension. */
  readonly harn: boolean;
  /** It knows the `_pilothouse/` extension in our version. */
  readonly pilothouse: boolean;
  /** It wants its own prompts back as updates, with their message ids. */
  readonly echoPrompts: boolean;
};

/** The name a client has that gives none. Source: Harn control extension, actor defaults. */
const NAMELESS = 'legacy-acp-client';

/** What is known of a client that has not introduced itself. */
export const UNKNOWN_CLIENT: ClientFacts = {
  name: NAMELESS,
  title: null,
  onDetach: null,
  canReadFiles: false,
  canWriteFiles: false,
  notices: false,
  compaction: false,
  forms: false,
  urls: false,
  harn: false,
  pilothouse: false,
  echoPrompts: false,
};

/** Reads the facts from `initialize`. An empty `elicitation` means none, unlike in MCP. */
export function clientFacts(request: InitializeRequest): ClientFacts {
  const capabilities = member(request, 'clientCapabilities');
  const fs = member(capabilities, 'fs');
  const elicitation = member(capabilities, 'elicitation');
  const info = member(request, 'clientInfo');
  const own = { ...metaOf(request, 'pilothouse'), ...metaOf(capabilities, 'pilothouse') };
  const isOurs = own['version'] === PILOTHOUSE_VERSION;
  return {
    name: typeof info['name'] === 'string' && info['name'] !== '' ? info['name'] : NAMELESS,
    title: typeof info['title'] === 'string' && info['title'] !== '' ? info['title'] : null,
    onDetach: onDetachOf(own['onDetach']),
    canReadFiles: fs['readTextFile'] === true,
    canWriteFiles: fs['writeTextFile'] === true,
    notices: isObject(member(capabilities, 'session')['notices']),
    compaction: isObject(member(capabilities, 'session')['compaction']),
    forms: isObject(elicitation['form']),
    urls: isObject(elicitation['url']),
    harn: declaresHarn(request) || declaresHarn(capabilities),
    pilothouse: isOurs,
    echoPrompts: isOurs && own['echoPrompts'] === true,
  };
}

function onDetachOf(said: unknown): OnDetach | null {
  return said === 'keep' || said === 'stop' ? said : null;
}

function declaresHarn(value: unknown): boolean {
  const meta = member(value, '_meta');
  const declared = Object.hasOwn(meta, 'harn') ? meta['harn'] : undefined;
  return declared === true || isObject(declared);
}

function member(value: unknown, name: string): Record<string, unknown> {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isObject(found) ? found : {};
}

/** The client as updates are made for it. */
export function audienceOf({ notices, pilothouse, compaction, harn }: ClientFacts): Audience {
  return { notices, extras: pilothouse, compaction, harn };
}

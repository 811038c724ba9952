import type { JsonObject } from '../../../base/json.ts';
import type { UpdateExtras } from '../../../protocol/acp-meta.ts';
import type { WireUpdate } from '../../../protocol/harn.ts';
import type { Cause } from '../../session/events.ts';

/** An update and where its text begins in its message, if it is streamed text. */
export type Projected = { readonly update: WireUpdate; readonly offset?: number };

/** For whom updates are made. */
export type Audience = {
  /** It takes `notice` updates. */
  readonly notices: boolean;
  /** It reads `_meta.pilothouse`. */
  readonly extras: boolean;
  /** It takes compaction updates. */
  readonly compaction: boolean;
  /** It takes the updates of the Harn extension. */
  readonly harn: boolean;
};

/** `_meta` of an update from what belongs to each extension; nothing if both are empty. */
export function metaFor(
  audience: Audience,
  parts: { readonly harn?: JsonObject; readonly pilothouse?: UpdateExtras },
): { _meta?: { [key: string]: unknown } } {
  const meta = {
    ...(parts.harn ? { harn: parts.harn } : {}),
    ...(parts.pilothouse && audience.extras ? { pilothouse: parts.pilothouse } : {}),
  };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** What brought a record about, as marks carry it; nothing where nobody commanded it. */
export function causeOf({ cause }: { readonly cause: Cause }): { readonly cause?: Cause } {
  return cause.command_ids.length === 0 ? {} : { cause };
}

import { isObject } from '../../../base/json.ts';

/** What stands at the top of a frame that a WebSocket client is sent. Source: Harn session control, ACP over WebSocket. */
export type WireMark = {
  /** Of this frame; counts up by one within a worker. */
  readonly eventId: number;
  readonly sessionId?: string;
  readonly replayed: boolean;
  /** Of the worker; on answers. */
  readonly worker?: string;
};

const HEAD = '{"jsonrpc":"2.0",';
const OLD_MARK = /"_harn":(\{[^{}]*\}),/uy;

/**
 * A frame with its mark on top, in place of one that it has. The rest of the text stays as it is, so that numbers keep
 * every digit.
 */
export function stamped(text: string, mark: WireMark): string {
  const at = text.startsWith(HEAD) ? HEAD.length : -1;
  if (at < 0) return rewritten(text, mark);
  OLD_MARK.lastIndex = at;
  const old = OLD_MARK.exec(text);
  if (old === null && text.startsWith('"_harn"', at)) return rewritten(text, mark);
  const rest = text.slice(at + (old === null ? 0 : old[0].length));
  return `${HEAD}"_harn":${JSON.stringify(mark)},${rest}`;
}

/** True if the frame says of itself that it tells something anew. */
export function saysReplayed(text: string): boolean {
  if (!text.startsWith(HEAD)) return false;
  OLD_MARK.lastIndex = HEAD.length;
  const mark: unknown = JSON.parse(OLD_MARK.exec(text)?.[1] ?? 'null');
  return isObject(mark) && mark['replayed'] === true;
}

/** Frames that were written otherwise than this program does it. */
function rewritten(text: string, mark: WireMark): string {
  const frame: unknown = JSON.parse(text);
  return isObject(frame) ? JSON.stringify({ ...frame, _harn: mark }) : text;
}

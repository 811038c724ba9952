import { isObject } from '../../../base/json.ts';

/** What stands at the top of a frame that a WebSocket client is sent. Source: Harn session control, ACP over WebSocket. */
export type WireMark = {
  /** Of this frame; counts up within a worker. */
  readonly eventId: number;
  readonly sessionId?: string;
  readonly replayed: boolean;
  /** Of the worker; on answers. */
  readonly worker?: string;
};

/** A frame without a mark: `{"jsonrpc":"2.0",` and what follows it. */
export type Unmarked = {
  readonly body: string;
  /** The mark that it had said that it tells something anew. */
  readonly replayed: boolean;
};

const HEAD = '{"jsonrpc":"2.0",';
const MARK_KEY = '"_harn":';
/** A mark is flat but for one level; what looks otherwise is parsed whole. */
const MARK = /"_harn":(\{(?:[^{}]|\{[^{}]*\})*\}),/uy;

/** Takes a frame's mark off. The rest of its text stays as it is, so that numbers keep every digit. */
export function unmarked(text: string): Unmarked {
  if (!text.startsWith(HEAD)) return rewritten(text);
  if (!text.startsWith(MARK_KEY, HEAD.length))
    return { body: text.slice(HEAD.length), replayed: false };
  MARK.lastIndex = HEAD.length;
  const [whole, mark] = MARK.exec(text) ?? [];
  const said = whole === undefined ? null : parsed(mark);
  if (whole === undefined || said === null) return rewritten(text);
  return { body: text.slice(HEAD.length + whole.length), replayed: said['replayed'] === true };
}

/** The frame with its mark on top. */
export function stamped({ body }: Pick<Unmarked, 'body'>, mark: WireMark): string {
  return `${HEAD}${MARK_KEY}${JSON.stringify(mark)},${body}`;
}

/** Frames that were written otherwise than this program does it. */
function rewritten(text: string): Unmarked {
  const { jsonrpc: _version, _harn: mark, ...rest } = parsed(text) ?? {};
  return {
    body: JSON.stringify(rest).slice(1),
    replayed: isObject(mark) && mark['replayed'] === true,
  };
}

function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isObject(value) ? value : null;
  } catch {
    // A mark that was cut at the wrong brace.
    return null;
  }
}

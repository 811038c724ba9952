import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  type Message,
} from 'vscode-jsonrpc';
import { isObject } from '../../base/json.ts';
import { RPC_CODES } from '../errors.ts';
import { FaultAnswers, faultMessage } from './fault-answers.ts';
import type { Frame } from './frame-port.ts';
import { type ParsedFrame, parseFrame, type WireError, type WireId } from './message.ts';
import type { RequestIds } from './request-ids.ts';
import type { ArrivedCall, RpcPeerOptions } from './rpc-types.ts';

/** How much of a line that is no message is logged, in characters. */
const MAX_SHOWN = 2_000;

/** What a call carries through the library: its own number, and params of any shape untouched. */
export type Envelope = { readonly requestId: number; readonly params: unknown };

/** Opens what `FrameReader` packed; nothing else reaches the library's handlers. */
export function envelopeOf(params: unknown): Envelope {
  if (!isObject(params) || typeof params['requestId'] !== 'number')
    throw new TypeError('A call reached its handler without its envelope');
  return { requestId: params['requestId'], params: params['params'] };
}

/** What the reader needs of its peer. */
export type ReaderDeps = {
  readonly ids: RequestIds;
  /** Numbers of our own requests that wait for an answer. */
  readonly outstanding: Set<number>;
  readonly options: RpcPeerOptions;
  readonly arrived: (call: ArrivedCall) => boolean;
  readonly send: (message: object) => void;
};

/** Turns frames into the library's messages, and answers what is no message. */
export class FrameReader extends AbstractMessageReader {
  readonly #deps: ReaderDeps;
  readonly #answers: FaultAnswers;
  #callback: DataCallback | undefined;
  #current: Frame = '';

  constructor(deps: ReaderDeps) {
    super();
    this.#deps = deps;
    this.#answers = new FaultAnswers(deps.options.now);
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    return {
      dispose: () => {
        this.#callback = undefined;
      },
    };
  }

  /** Takes one frame; never throws. */
  read(frame: Frame): void {
    this.#current = frame;
    if (typeof frame !== 'string') this.#garbage(RPC_CODES.parseError, faultMessage(frame));
    else this.#sort(parseFrame(frame));
  }

  #sort(parsed: ParsedFrame): void {
    switch (parsed.kind) {
      case 'request':
        this.#request(parsed.id, parsed.method, parsed.params);
        break;
      case 'notification':
        this.#notification(parsed.method, parsed.params);
        break;
      case 'result':
        this.#answer(parsed.id, { result: parsed.result });
        break;
      case 'error':
        this.#answer(parsed.id, { error: parsed.error });
        break;
      case 'unparsable':
        this.#garbage(RPC_CODES.parseError, `Parse error: ${parsed.reason}`);
        break;
      case 'invalid':
        this.#invalid(parsed.id, parsed.reason);
    }
  }

  #request(id: WireId, method: string, params: unknown): void {
    const requestId = this.#deps.ids.arrived(id);
    this.#deps.arrived({ requestId, method, params });
    this.#forward({ id: requestId, method, params: { requestId, params } });
  }

  #notification(method: string, params: unknown): void {
    if (method === '$/cancel_request') this.#cancel(params);
    else if (method.startsWith('$/'))
      this.#deps.options.log.warn('Ignored a protocol notification that is not known', { method });
    else if (!this.#deps.arrived({ method, params }))
      this.#forward({ method, params: { requestId: 0, params } });
  }

  /** The library knows this notification only by the name LSP gave it. */
  #cancel(params: unknown): void {
    const id = isObject(params) ? params['requestId'] : undefined;
    const isId = typeof id === 'string' || typeof id === 'number' || id === null;
    const requestId = isId ? this.#deps.ids.find(id) : undefined;
    if (requestId === undefined)
      this.#deps.options.log.warn('Ignored a cancellation of a request that is not running');
    else this.#forward({ method: '$/cancelRequest', params: { id: requestId } });
  }

  #answer(id: WireId, body: { result: unknown } | { error: WireError }): void {
    const own = typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : id;
    if (typeof own !== 'number' || !this.#deps.outstanding.delete(own)) {
      this.#deps.options.log.warn('Ignored an answer to a request that does not wait for one', {
        id,
        ...('error' in body ? { error: body.error } : {}),
      });
      return;
    }
    this.#forward({ id: own, ...body });
  }

  /** A request that can be told apart is answered by its id; the limit is for what can't. */
  #invalid(id: WireId, message: string): void {
    const code = RPC_CODES.invalidRequest;
    if (id === null || !this.#deps.options.answersGarbage) this.#garbage(code, message);
    else this.#deps.send({ jsonrpc: '2.0', id, error: { code, message } });
  }

  #garbage(code: number, message: string): void {
    const line = typeof this.#current === 'string' ? this.#current.slice(0, MAX_SHOWN) : '';
    this.#deps.options.log.warn('Received a line that is no message', { message, line });
    if (!this.#deps.options.answersGarbage) return;
    const answer = this.#answers.answer(code, message);
    if (answer !== null) this.#deps.send(answer);
  }

  #forward(message: object): void {
    const whole: Message = { jsonrpc: '2.0', ...message };
    this.#callback?.(whole);
  }
}

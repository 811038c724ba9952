import { assertNever } from '../../../base/assert-never.ts';
import type { GateAnswer, GateRequest } from '../../session/gate-words.ts';
import { type Block, BlockWriter, type EventRef, eventIds } from './block.ts';
import { clip, code, plain, quote } from './markdown.ts';

/** A question to a person and its answer. */
export class GateBlock implements Block {
  readonly symbol = 'gate';
  readonly events: EventRef[] = [];
  readonly #gateId: string;
  readonly #request: GateRequest;
  readonly #callEvent: number | null;
  #answer: { answer: GateAnswer; by: string } | null = null;

  /** `callEvent` is the event that proposed the call that the gate is about. */
  constructor(gateId: string, request: GateRequest, callEvent: number | null) {
    this.#gateId = gateId;
    this.#request = request;
    this.#callEvent = callEvent;
  }

  resolve(answer: GateAnswer, by: string): void {
    this.#answer = { answer, by };
  }

  name(): string {
    const { kind } = this.#request;
    return kind === 'permission' ? 'Approval' : kind === 'ask' ? 'Question' : 'Sign-in';
  }

  detail(): string {
    return this.#answer ? clip(answerText(this.#request, this.#answer.answer), 200) : 'open';
  }

  render() {
    const by = this.#answer ? ` by ${plain(this.#answer.by)}` : '';
    const writer = new BlockWriter()
      .line(`### ${this.name()} · ${plain(this.detail())}${by} · ${eventIds(this.events)}`)
      .blank()
      .line(
        `Gate ${code(this.#gateId)}`,
        ...(this.#callEvent === null
          ? []
          : [
              ' · about the call of ',
              {
                text: `#${this.#callEvent}`,
                target: { kind: 'event' as const, id: this.#callEvent },
              },
            ]),
      )
      .blank()
      .text(quote(clip(questionText(this.#request))));
    return writer.end();
  }
}

function questionText(request: GateRequest): string {
  switch (request.kind) {
    case 'permission':
      return [
        `${code(request.title)}`,
        ...(request.reason === '' ? [] : ['', plain(request.reason)]),
        ...(request.details.length > 0
          ? ['', ...request.details.map((each) => `- ${code(each)}`)]
          : []),
      ].join('\n');
    case 'ask':
      return request.message;
    case 'auth':
      return `${code(request.target)}: ${plain(request.message)}`;
    default:
      return assertNever(request);
  }
}

function answerText(request: GateRequest, answer: GateAnswer): string {
  switch (answer.kind) {
    case 'selected': {
      const options = request.kind === 'permission' ? request.options : [];
      const chosen = options.find(({ optionId }) => optionId === answer.optionId);
      return (chosen?.name ?? answer.optionId) + (answer.note ? ` (${answer.note})` : '');
    }
    case 'accepted':
      return `answered ${JSON.stringify(answer.content)}`;
    case 'declined':
      return 'declined';
    case 'cancelled':
      return `cancelled (${answer.reason.replaceAll('_', ' ')})`;
    default:
      return assertNever(answer);
  }
}

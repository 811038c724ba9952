import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { Deferred } from '../../base/deferred.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ElicitationSchema } from '../../protocol/acp.ts';
import type { ToolContext } from '../session/tool.ts';

/** Puts the questions of a server to the person, through the call that it works on. */
export class Elicitations {
  readonly #server: string;
  readonly #pages = new Map<string, Deferred<boolean>>();

  constructor(server: string) {
    this.#server = server;
  }

  /** `context` is the call in whose name it asks; a server that works on nothing has nothing to ask. */
  async answer(
    params: ElicitRequest['params'],
    context: ToolContext | undefined,
  ): Promise<ElicitResult> {
    if (context === undefined) return { action: 'cancel' };
    const message = `${this.#server} asks: ${params.message}`;
    if (params.mode === 'url') {
      const arrived = this.#page(params.elicitationId);
      const request = { target: this.#server, message, url: params.url, arrived: arrived.promise };
      const isDone = await context.signIn(request);
      this.#pages.delete(params.elicitationId);
      return { action: isDone ? 'accept' : 'decline' };
    }
    // MCP and ACP have the same restricted schemas; the library has checked this one.
    const schema = params.requestedSchema as ElicitationSchema;
    const answer = await context.ask({ message, schema });
    if (answer.kind === 'declined')
      return { action: context.signal.aborted ? 'cancel' : 'decline' };
    return { action: 'accept', content: toContent(answer.content) };
  }

  /** The server says that a page is done. */
  pageDone(elicitationId: string): void {
    this.#pages.get(elicitationId)?.resolve(true);
  }

  #page(elicitationId: string): Deferred<boolean> {
    const page = new Deferred<boolean>();
    this.#pages.set(elicitationId, page);
    return page;
  }
}

type Content = NonNullable<ElicitResult['content']>;

/** Forms hold texts, numbers, booleans and lists of texts; nothing else can come back. */
function toContent(answer: JsonObject): Content {
  const content: Content = {};
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      content[name] = value;
    else if (Array.isArray(value))
      content[name] = value.filter((item): item is string => typeof item === 'string');
  }
  return content;
}

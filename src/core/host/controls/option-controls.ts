import type { SessionConfigOption } from '../../../protocol/acp.ts';
import type { Actor } from '../../../protocol/controls.ts';
import type { ControlTarget, OptionControls } from './api.ts';
import type { ReceiptWriter } from './receipts/receipted.ts';
import { noSuchSession } from './sessions-at-hand.ts';

/** A live session as its options are changed. */
export type ConfigurableSession = {
  configOptions(): Promise<readonly SessionConfigOption[]>;
  setOption(configId: string, value: string, actor: Actor): Promise<readonly SessionConfigOption[]>;
};

/** Changes of a session's options, each with its receipt. */
export class OptionDesk implements OptionControls {
  readonly #live: (sessionId: string) => ConfigurableSession | undefined;
  readonly #receipts: ReceiptWriter;

  constructor(
    live: (sessionId: string) => ConfigurableSession | undefined,
    receipts: ReceiptWriter,
  ) {
    this.#live = live;
    this.#receipts = receipts;
  }

  setOption(
    target: ControlTarget,
    request: Parameters<OptionControls['setOption']>[1],
  ): Promise<readonly SessionConfigOption[]> {
    const { method, configId, value } = request;
    return this.#receipts.run(
      method,
      target,
      async () => {
        const session = this.#live(target.sessionId);
        if (session === undefined) throw noSuchSession(target.sessionId);
        const before = chosen(await session.configOptions(), configId);
        const result = await session.setOption(configId, value, target.actor);
        const isSame = before === chosen(result, configId);
        return {
          result,
          outcome: isSame
            ? { outcome: 'unchanged', status: 'idempotent' }
            : { outcome: 'changed', status: 'accepted' },
        };
      },
      { configId, value },
    );
  }
}

function chosen(options: readonly SessionConfigOption[], configId: string): unknown {
  return options.find(({ id }) => id === configId)?.currentValue;
}

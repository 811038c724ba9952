import { fileURLToPath } from 'node:url';
import { serveGates } from '../../../src/extension/approvals/gate-requests.ts';
import { GateStore } from '../../../src/extension/approvals/gate-store.ts';
import { Agent } from '../../../src/extension/core/agent.ts';
import { launchAgent } from '../../../src/extension/core/agent-process.ts';
import { ClientCalls } from '../../../src/extension/core/client-requests.ts';
import { systemClock } from '../../../src/extension/core/system-clock.ts';
import { Hosts } from '../../../src/extension/hosts/hosts.ts';
import type { LiveSession } from '../../../src/extension/sessions/live-session.ts';
import { SessionHub } from '../../../src/extension/sessions/session-hub.ts';

const SCRIPT = fileURLToPath(new URL('fake-agent.mjs', import.meta.url));

/** The extension's own client, without the editor, on a fake agent over real stdio. */
export class FakeSetup {
  readonly calls = new ClientCalls();
  readonly gates = new GateStore();
  readonly problems: string[] = [];
  readonly agent: Agent;
  readonly hub: SessionHub;
  #id = 0;

  constructor(args: readonly string[] = [], script = SCRIPT) {
    const newId = (): string => {
      this.#id += 1;
      return `id-${this.#id}`;
    };
    serveGates(this.calls, this.gates, { now: () => 0, newId });
    const log = (message: string): void => {
      this.problems.push(message);
    };
    this.agent = new Agent({
      clock: systemClock,
      version: '0',
      launch: async () =>
        launchAgent({
          command: process.execPath,
          args: [script, ...args],
          cwd: process.cwd(),
          env: process.env,
          onLogLine: log,
        }),
      client: {
        onRequest: async (method, params, signal) => this.calls.request(method, params, signal),
        onNotification: (method, params) => void this.calls.notify(method, params),
        onProblem: log,
      },
      offers: { documents: true, onDetach: 'keep' },
      log,
      prepare: async () => undefined,
      forbidden: () => null,
    });
    this.hub = new SessionHub({
      hosts: new Hosts(this.agent),
      rowStore: { load: () => [], save: () => undefined },
      calls: this.calls,
      gates: this.gates,
      clock: systemClock,
      newId,
      log,
      mcpServers: () => [],
      onDetach: () => 'keep',
    });
  }

  /** Sends a prompt of one text block. */
  async send(session: LiveSession, ...lines: readonly string[]): Promise<void> {
    const text = lines.join('\n');
    await session.send([{ type: 'text', text }], text);
  }

  /** Resolves with the stop reason of the next turn that ends. */
  async nextEnd(session: LiveSession): Promise<string> {
    return new Promise((resolve) => {
      const subscription = session.onDidChange((change) => {
        if (change.kind !== 'turn_ended') return;
        subscription.dispose();
        resolve(change.stopReason);
      });
    });
  }

  async dispose(): Promise<void> {
    await this.agent.close(500);
    this.hub.dispose();
  }
}

/** Resolves as soon as `holds` is true, looked at on every change that `subscribe` reports. */
export async function untilTrue(
  subscribe: (listener: () => void) => { dispose(): void },
  holds: () => boolean,
): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const subscription = subscribe(() => {
      if (!holds()) return;
      subscription.dispose();
      resolve();
    });
  });
}

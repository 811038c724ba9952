import { describe, expect, it } from 'vitest';
import { ExternalChanges } from '../../../../src/core/host/external-changes.ts';
import { sha256 } from '../../../../src/core/host/node-ports.ts';
import type { ExternalSource } from '../../../../src/core/host/session-resources.ts';
import type { ReplaceLoopExternalTools } from '../../../../src/core/session/commands/command.ts';
import { violationOf } from '../../../../src/core/session/commands/command-rules.ts';
import { aSession } from '../../../support/engine/a-session.ts';
import { ScriptedModel } from '../../../support/engine/scripted-model.ts';

function source(name: string, tools: readonly string[], isPending = false): ExternalSource {
  return {
    name,
    isPending,
    tools: tools.map((tool) => ({
      name: tool,
      description: '',
      inputSchema: { type: 'object', title: tool },
    })),
  };
}

/** A session whose external tools are what the test says. */
async function watched() {
  const t = await aSession({ model: new ScriptedModel() });
  let sources: readonly ExternalSource[] = [];
  const changes = new ExternalChanges({
    external: { sources: () => sources },
    session: t.session,
    digest: sha256,
  });
  const recorded = (): readonly ReplaceLoopExternalTools[] =>
    (t.journal.records.get(t.session.sessionId) ?? []).flatMap(({ record: { event } }) =>
      event.type === 'loop_changed' && event.command.type === 'replace_loop_external_tools'
        ? [event.command]
        : [],
    );
  return {
    recorded,
    become: async (...now: readonly ExternalSource[]) => {
      sources = now;
      await changes.changed();
    },
  };
}

describe('the external tools of a session', () => {
  it('are recorded by source when they come, change and go', async () => {
    const { become, recorded } = await watched();
    await become(source('files', ['read', 'write']), source('web', ['fetch']));
    await become(source('files', ['read']), source('web', ['fetch']));
    await become(source('files', ['read']));
    const seen = recorded().map((one) => [one.source, one.tools.map(({ name }) => name)]);
    expect(seen).toEqual([
      ['files', ['read', 'write']],
      ['web', ['fetch']],
      ['files', ['read']],
      ['web', []],
    ]);
    expect(new Set(recorded().map(({ generation }) => generation)).size).toBe(4);
    expect(recorded().map(violationOf)).toEqual([null, null, null, null]);
    expect(recorded()[0]?.tools[0]?.schema_digest).toBe(sha256('{"title":"read","type":"object"}'));
  });

  it('are not recorded again while they stay, connect, or were never there', async () => {
    const { become, recorded } = await watched();
    await become(source('files', [], true));
    await become(source('files', []));
    await become(source('files', ['read']));
    await become(source('files', [], true));
    await become(source('files', ['read']));
    expect(recorded()).toHaveLength(1);
  });

  it('of a source with a long name are recorded under a shorter one', async () => {
    const { become, recorded } = await watched();
    await become(source('x'.repeat(200), ['a']), source(`${'x'.repeat(199)}y`, ['b']));
    expect(recorded().map(violationOf)).toEqual([null, null]);
    expect(new Set(recorded().map((one) => one.source)).size).toBe(2);
  });
});

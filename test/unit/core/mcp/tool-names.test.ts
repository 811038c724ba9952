import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { modelToolNames } from '../../../../src/core/mcp/tools/tool-names.ts';

function names(...tools: readonly (readonly [string, string])[]): readonly string[] {
  return modelToolNames(tools.map(([server, tool]) => ({ server, tool })));
}

describe('names of MCP tools', () => {
  it('say the server and the tool', () => {
    expect(names(['git', 'read_log'], ['git', 'read-diff'])).toEqual([
      'mcp__git__read_log',
      'mcp__git__read-diff',
    ]);
  });

  it('keep only what every provider takes', () => {
    expect(names(['my server', 'get.user/name'])).toEqual(['mcp__my_server__get_user_name']);
    expect(names(['é', '😀'])).toEqual(['mcp_____' + '_']);
  });

  it('of one kind are told apart by a digest of the original', () => {
    const [dot, slash] = names(['s', 'a.b'], ['s', 'a/b']);
    expect(dot).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
    expect(slash).toMatch(/^mcp__s__a_b_[0-9a-f]{8}$/);
    expect(dot).not.toBe(slash);
    expect(names(['s', 'a/b'], ['s', 'a.b'])).toEqual([slash, dot]);
  });

  it('that are too long are cut, and stay different', () => {
    const long = 'x'.repeat(80);
    const [one, two] = names(['server', `${long}1`], ['server', `${long}2`]);
    expect(one).toHaveLength(64);
    expect(two).toHaveLength(64);
    expect(one).not.toBe(two);
  });

  it('of two servers with one name are counted', () => {
    const [one, two] = names(['s', 'a'], ['s', 'a']);
    expect(two).toBe(`${one}_2`);
  });

  it('are valid, unique and the same every time, whatever the servers call them', () => {
    const tool = fc.record({ server: fc.string(), tool: fc.string({ unit: 'grapheme' }) });
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 30 }), (tools) => {
        const made = modelToolNames(tools);
        expect(made).toHaveLength(tools.length);
        expect(new Set(made).size).toBe(tools.length);
        expect(made.every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true);
        expect(modelToolNames(tools)).toEqual(made);
      }),
    );
  });
});

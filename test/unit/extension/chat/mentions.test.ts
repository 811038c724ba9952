import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  bestMatches,
  foldersOf,
  fuzzyScore,
} from '../../../../src/extension/chat/mentions/fuzzy.ts';
import {
  formatRange,
  linesOfSelection,
  parseRange,
} from '../../../../src/extension/chat/mentions/line-range.ts';
import { promptBlocks } from '../../../../src/extension/chat/mentions/prompt-blocks.ts';
import { promptView } from '../../../../src/extension/chat/model/prompt-view.ts';

describe('the @-mention list', () => {
  it('prefers the name of a file to its folders', () => {
    const paths = ['src/session/other.ts', 'src/core/session.ts', 'docs/sess-ion.md'];
    expect(bestMatches('session', paths, (path) => path, 2)[0]).toBe('src/core/session.ts');
  });

  it('finds letters in order and nothing else', () => {
    expect(fuzzyScore('vpr', 'chat/view-provider.ts')).not.toBeNull();
    expect(fuzzyScore('xq', 'chat/view-provider.ts')).toBeNull();
    expect(fuzzyScore('', 'anything')).toBe(0);
  });

  it('names every folder on the way', () => {
    expect(foldersOf(['a/b/c.ts', 'a/d.ts'])).toEqual(['a', 'a/b']);
  });
});

describe('line ranges', () => {
  it('read what they write', () => {
    for (const range of [
      { first: 3, last: 9 },
      { first: 5, last: 5 },
    ])
      expect(parseRange(formatRange(range))).toEqual(range);
    for (const bad of ['', '0', '9-3', '3-', 'x']) expect(parseRange(bad)).toBeNull();
  });

  it('leave out a line that only the caret touches', () => {
    const selection = { start: { line: 2 }, end: { line: 5, character: 0 } };
    expect(linesOfSelection(selection)).toEqual({ first: 3, last: 5 });
  });
});

describe('a prompt', () => {
  it('links a file by its whole path (A39)', async () => {
    const uri = pathToFileURL('/w/a b/ü (1).txt').toString();
    const blocks = await promptBlocks(
      'see',
      [{ name: 'ü (1).txt', uri, kind: 'file' }],
      [],
      async () => null,
    );
    expect(blocks[1]).toMatchObject({ type: 'resource_link', uri, name: 'ü (1).txt' });
    expect(decodeURIComponent(new URL(uri).pathname)).toBe('/w/a b/ü (1).txt');
  });

  it('carries the text of a selection and shows it as an attachment again', async () => {
    const attachment = {
      name: 'a.ts',
      uri: 'file:///w/a.ts',
      kind: 'selection',
      range: '3-4',
    } as const;
    const blocks = await promptBlocks(
      'x',
      [attachment],
      [{ mimeType: 'image/png', data: 'AA==' }],
      async () => 'const a = 1;',
    );
    expect(blocks.at(-1)).toMatchObject({
      type: 'resource',
      resource: { uri: 'file:///w/a.ts#L3-L4', text: 'const a = 1;' },
    });
    expect(promptView(blocks)).toMatchObject({
      text: 'x',
      attachments: [{ name: 'a.ts', kind: 'selection', range: '3-4' }],
      images: [{ mimeType: 'image/png' }],
    });
  });
});

import { describe, expect, it } from 'vitest';
import {
  MAX_MEDIA_CHARS,
  MAX_TEXT_BYTES,
  toOutcome,
} from '../../../../src/core/mcp/tools/tool-result.ts';

function texts(outcome: ReturnType<typeof toOutcome>): string[] {
  return outcome.parts.map((part) => (part.type === 'text' ? part.text : part.type));
}

describe('the result of an MCP tool', () => {
  it('is text for the model and for the person', () => {
    expect(toOutcome({ content: [{ type: 'text', text: 'hi' }] })).toEqual({
      status: 'completed',
      parts: [{ type: 'text', text: 'hi' }],
      content: [{ type: 'content', content: { type: 'text', text: 'hi' } }],
    });
  });

  it('is a failure where the server says so', () => {
    const outcome = toOutcome({ content: [{ type: 'text', text: 'no' }], isError: true });
    expect(outcome.status).toBe('failed');
    expect(texts(toOutcome({ content: [], isError: true }))).toEqual([
      'The tool failed and did not say why.',
    ]);
  });

  it('is never empty', () => {
    expect(texts(toOutcome({ content: [] }))).toEqual(['Done.']);
  });

  it('carries images and sound; an image no provider takes is only shown', () => {
    const outcome = toOutcome({
      content: [
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'image', mimeType: 'image/tiff', data: 'BBBB' },
        { type: 'audio', mimeType: 'audio/wav', data: 'CCCC' },
      ],
    });
    expect(outcome.parts).toEqual([
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'text', text: '[image (image/tiff), shown to the user]' },
      { type: 'audio', mimeType: 'audio/wav', data: 'CCCC' },
    ]);
    expect(outcome.content).toHaveLength(3);
  });

  it('shows resources as resources, and the model reads what they are', () => {
    const outcome = toOutcome({
      content: [
        { type: 'resource_link', uri: 'file:///a', name: 'a', description: 'first' },
        { type: 'resource', resource: { uri: 'mem://b', text: 'body', mimeType: 'text/plain' } },
        { type: 'resource', resource: { uri: 'mem://c', blob: 'AAAA', mimeType: 'x/y' } },
        { type: 'resource', resource: { uri: 'mem://d', blob: 'AAAA', mimeType: 'image/png' } },
      ],
    });
    expect(texts(outcome)).toEqual([
      'Resource file:///a (a; first)',
      'Resource mem://b:\nbody',
      '[Resource mem://c: 3 bytes of x/y]',
      'image',
    ]);
    expect(outcome.content.map((item) => item.type === 'content' && item.content.type)).toEqual([
      'resource_link',
      'resource',
      'resource',
      'image',
    ]);
  });

  it('gives the model structured content only where no text says the same', () => {
    const structuredContent = { celsius: 21 };
    const alone = toOutcome({ content: [], structuredContent });
    expect(JSON.parse(texts(alone)[0] ?? '')).toEqual(structuredContent);
    const both = toOutcome({ content: [{ type: 'text', text: '21°' }], structuredContent });
    expect(texts(both)).toEqual(['21°']);
    expect(both.rawOutput).toEqual(structuredContent);
  });

  it('is cut between characters where it is too long, and says how long it was', () => {
    const text = '😀'.repeat(MAX_TEXT_BYTES);
    const outcome = toOutcome({
      content: [
        { type: 'text', text },
        { type: 'text', text: 'second' },
      ],
      structuredContent: { text },
    });
    const [first = '', second] = texts(outcome);
    expect(Buffer.byteLength(first)).toBeLessThan(MAX_TEXT_BYTES + 200);
    expect(first).not.toContain('\uFFFD');
    expect(first).toContain(`[cut: ${Buffer.byteLength(text)} bytes`);
    expect(second).toContain('[cut: 6 bytes');
    expect(outcome.rawOutput).toBeUndefined();
  });

  it('names an image that is too large instead of dropping it', () => {
    const data = 'A'.repeat(MAX_MEDIA_CHARS + 4);
    const outcome = toOutcome({ content: [{ type: 'image', mimeType: 'image/png', data }] });
    expect(texts(outcome)).toEqual([
      `[image of ${(data.length * 3) / 4} bytes (image/png) left out: too large]`,
    ]);
  });
});

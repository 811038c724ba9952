import { describe, expect, test } from 'vitest';
import { renderBlocks } from '../../../media/chat/markdown/render.ts';

function html(text: string): string {
  return renderBlocks(text, {})
    .map((block) => block.html)
    .join('');
}

describe('Markdown before it is sanitised', () => {
  test.each([
    ['<script>alert(1)</script>'],
    ['<img src=x onerror=alert(1)>'],
    ['<svg/onload=alert(1)>'],
    ['a <b onmouseover="alert(1)">b</b>'],
  ])('%s is text', (text) => {
    expect(html(text)).not.toMatch(/<(?!\/?p>|br)/);
  });

  test.each([
    ['[x](javascript:alert(1))'],
    ['[x](JaVaScRiPt:alert(1))'],
    ['[x](&#106;avascript:alert(1))'],
    ['[x](vbscript:x)'],
    ['[x](data:text/html;base64,PHNjcmlwdD4=)'],
    ['[x](file:///etc/passwd)'],
  ])('%s is no link', (text) => {
    expect(html(text)).not.toContain('<a');
  });

  test('a picture from elsewhere is a link, so that nothing is loaded', () => {
    expect(html('![cat](https://example.com/cat.png?q=secret)')).toBe(
      '<p><a href="https://example.com/cat.png?q=secret">cat</a></p>\n',
    );
  });

  test('blocks say where they begin, so that a stream can go on from the last', () => {
    const text = '# One\n\ntwo\n\n```js\n\nthree\n```\nfour';
    const starts = renderBlocks(text, {}).map(({ start }) => text.slice(start).split('\n')[0]);
    expect(starts).toEqual(['# One', 'two', '```js', 'four']);
  });
});

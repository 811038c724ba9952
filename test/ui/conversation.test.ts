import { describe, expect, test } from 'vitest';
import type { ChatItem, ToChat } from '../../src/protocol/chat.ts';
import { CONVERSATION, DIFF, IDLE, RUNNING, reset, tool } from './support/samples.ts';
import { withChat } from './support/with-chat.ts';

const inChat = withChat();

function reply(id: string, text: string, streaming = false): ChatItem {
  return { kind: 'assistant', id, text, streaming };
}

function pieces(id: string, field: 'text' | 'output', text: string, size: number): ToChat[] {
  const result: ToChat[] = [];
  for (let offset = 0; offset < text.length; offset += size) {
    result.push({ type: 'append', id, field, offset, text: text.slice(offset, offset + size) });
  }
  return result;
}

describe('streaming', () => {
  test(
    'text that streams in ends as the same page as text that was there at once',
    () =>
      inChat(async ({ tell, page }) => {
        const text = CONVERSATION.flatMap((item) =>
          item.kind === 'assistant' ? [item.text] : [],
        ).join('');
        const late = `${text}\nSee [later].\n\n[later]: https://example.com/later\n`;
        await tell(reset({ status: RUNNING, items: [reply('a', '', true)] }));
        for (const piece of pieces('a', 'text', late, 7)) await tell(piece);
        await tell({ type: 'upsert', items: [reply('a', late)] });
        const streamed = await page.locator('.markdown').innerHTML();
        await tell(reset({ items: [reply('b', late)] }));
        const whole = await page.locator('.markdown').innerHTML();
        expect(streamed).toContain('hljs-keyword');
        expect(streamed).toContain('href="https://example.com/later"');
        expect(streamed).toBe(whole);
      }),
    60_000,
  );

  test('a megabyte in one paragraph and a megabyte in one code block arrive whole', () =>
    inChat(async ({ tell, page }) => {
      const words = 'word '.repeat(200_000);
      const code = `\`\`\`\n${'line of code\n'.repeat(80_000)}\`\`\`\n`;
      await tell(reset({ status: RUNNING, items: [reply('a', '', true), reply('b', '', true)] }));
      await tell(...pieces('a', 'text', words, 4096));
      await tell(...pieces('b', 'text', code, 4096));
      await tell({ type: 'upsert', items: [reply('a', words), reply('b', code)] });
      const lengths = await page
        .locator('.markdown')
        .evaluateAll((all) =>
          all.map((element) => element.querySelector('code, p')?.textContent?.trim().length),
        );
      expect(lengths.at(-1)).toBe('line of code\n'.length * 80_000 - 1);
    }));

  test('a repaint leaves finished blocks untouched', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ status: RUNNING, items: [reply('a', 'first\n\nsecond', true)] }));
      await page
        .locator('.markdown p')
        .first()
        .evaluate((first) => {
          first.id = 'marked';
        });
      await tell({ type: 'append', id: 'a', field: 'text', offset: 13, text: ' grows\n\nthird' });
      expect(await page.locator('.markdown p').allTextContents()).toEqual([
        'first',
        'second grows',
        'third',
      ]);
      expect(await page.locator('#marked').count()).toBe(1);
    }));

  test('a missing piece makes the page ask for everything, once', () =>
    inChat(async ({ tell, said }) => {
      await tell(reset({ items: [reply('a', 'x', true)] }));
      await tell({ type: 'append', id: 'a', field: 'text', offset: 5, text: 'y' });
      await tell({ type: 'append', id: 'a', field: 'text', offset: 6, text: 'z' });
      expect((await said('ready')).map(({ sessionId }) => sessionId)).toEqual([null, 's1']);
    }));
});

describe('size', () => {
  test('long lines of a diff and of a short output are broken, those of a long output scroll', () =>
    inChat(async ({ tell, page }) => {
      const long = `const everything = [${'"a word", '.repeat(40)}];`;
      const diff = { ...DIFF, lines: [{ mark: '+', text: long } as const], added: 1 };
      await tell(reset({ status: IDLE, items: [tool({ diffs: [diff], output: `${long}\n` })] }));
      const overflow = (selector: string) =>
        page.locator(selector).evaluate((element) => element.scrollWidth - element.clientWidth);
      await page.locator('.output').waitFor();
      expect(await overflow('.diff-lines')).toBe(0);
      expect(await overflow('.output')).toBe(0);
      expect(await page.getByRole('img', { name: '1 line added' }).count()).toBe(1);
      const output = `${long}\n`.repeat(300);
      await tell(reset({ status: IDLE, items: [tool({ diffs: [], output })] }));
      expect(await overflow('.output')).toBeGreaterThan(100);
    }));

  test('an output of 100,000 lines leaves few nodes, follows its end, and the page answers clicks', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ status: RUNNING, items: [tool({ status: 'in_progress' })] }));
      const output = Array.from(
        { length: 100_000 },
        (_, line) => `line ${line} of the output`,
      ).join('\n');
      const chunks = pieces('tool-1', 'output', output, 64 * 1024);
      for (const chunk of chunks) await tell(chunk);
      expect(await page.locator('.output-line').count()).toBeLessThan(60);
      expect(await page.locator('*').count()).toBeLessThan(300);
      expect(await page.locator('.output-line').last().textContent()).toBe(
        'line 99999 of the output',
      );
      await page.getByRole('button', { name: 'Show All' }).click();
      await page.getByRole('button', { name: 'Stop', exact: true }).click();
      expect(await said('open_output')).toEqual([{ type: 'open_output', toolCallId: 'tool-1' }]);
      expect(await said('stop')).toHaveLength(1);
    }));

  test('10,000 messages leave few nodes, and both ends can be reached', () =>
    inChat(async ({ tell, page }) => {
      const items = Array.from({ length: 10_000 }, (_, index) =>
        reply(`m${index}`, `Message *${index}*`),
      );
      await tell(reset({ items }));
      expect(await page.locator('.row').count()).toBeLessThan(60);
      expect(await page.locator('.row p').last().textContent()).toBe('Message 9999');
      await page.locator('.log').evaluate((log) => log.scrollTo(0, 0));
      await expect.poll(() => page.locator('.row p').first().textContent()).toBe('Message 0');
      await page.getByRole('button', { name: 'Jump to Latest' }).click();
      await expect.poll(() => page.locator('.row p').last().textContent()).toBe('Message 9999');
      await expect.poll(() => page.getByRole('button', { name: 'Jump to Latest' }).count()).toBe(0);
    }));
});

describe('scrolling', () => {
  const many = Array.from({ length: 60 }, (_, index) =>
    reply(`m${index}`, `Message ${index}\n\n${'More of it. '.repeat((index % 5) * 10)}`),
  );

  test('older messages are asked for near the start, and what is read stays in place', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(reset({ items: many.slice(30), hasBefore: true }));
      await page.locator('.log').evaluate((log) => log.scrollTo(0, 60));
      await expect.poll(async () => (await said('load_before')).length).toBe(1);
      const row = page.locator('[data-row="m30"]');
      const before = (await row.boundingBox())?.y;
      await tell({ type: 'prepend', items: many.slice(0, 30), hasBefore: false });
      expect(before).toBeDefined();
      await expect
        .poll(async () => Math.abs(((await row.boundingBox())?.y ?? 1e6) - (before ?? 0)))
        .toBeLessThan(2);
      expect(await page.locator('[data-row="m29"]').count()).toBe(1);
      expect(await said('load_before')).toHaveLength(1);
    }));

  test('the end is followed while it is in sight, and left alone while it is not', () =>
    inChat(async ({ tell, page }) => {
      const log = page.locator('.log');
      const fromEnd = () =>
        log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
      await tell(reset({ items: many, status: RUNNING }));
      await expect.poll(fromEnd).toBeLessThan(24);
      await tell({ type: 'upsert', items: [reply('new', 'grows', true)] });
      await tell({
        type: 'append',
        id: 'new',
        field: 'text',
        offset: 5,
        text: '\n\nand grows'.repeat(20),
      });
      await expect.poll(fromEnd).toBeLessThan(24);
      await log.evaluate((element) => element.scrollTo(0, element.scrollTop - 700));
      await page.getByRole('button', { name: 'Jump to Latest' }).waitFor();
      const place = await log.evaluate((element) => element.scrollTop);
      await tell({ type: 'upsert', items: [reply('newer', 'not seen')] });
      await tell({
        type: 'append',
        id: 'new',
        field: 'text',
        offset: 225,
        text: '\n\nand grows'.repeat(9),
      });
      expect(await log.evaluate((element) => element.scrollTop)).toBe(place);
    }));

  test.each([
    ['a prompt', undefined],
    ['a steer', { mode: 'steer', seam: 'post_tool_dispatch' }],
  ] as const)('one’s own message comes into sight while one reads further up: %s', (_, inject) =>
    inChat(async ({ tell, page }) => {
      const log = page.locator('.log');
      const fromEnd = () =>
        log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
      await tell(reset({ items: many, status: RUNNING }));
      await tell(reset({ items: many.slice(0, 50), status: RUNNING }));
      await log.evaluate((element) => element.scrollTo(0, element.scrollTop - 700));
      await page.getByRole('button', { name: 'Jump to Latest' }).waitFor();
      await tell({
        type: 'upsert',
        items: [
          {
            kind: 'user',
            id: 'own',
            at: 0,
            text: 'mine',
            attachments: [],
            ...(inject && { inject }),
          },
        ],
      });
      await expect.poll(fromEnd).toBeLessThan(24);
      await page.locator('[data-row="own"]').waitFor();
      await tell({ type: 'upsert', items: [reply('answer', 'long\n\n'.repeat(40))] });
      await expect.poll(fromEnd).toBeLessThan(24);
      await expect.poll(() => page.getByRole('button', { name: 'Jump to Latest' }).count()).toBe(0);
    }),
  );

  test('Send itself leads to the end', () =>
    inChat(async ({ tell, page }) => {
      const log = page.locator('.log');
      await tell(reset({ items: many, status: RUNNING }));
      await log.evaluate((element) => element.scrollTo(0, element.scrollTop - 700));
      await page.getByRole('button', { name: 'Jump to Latest' }).waitFor();
      await page.getByRole('textbox', { name: 'Message' }).fill('go on');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.getByRole('button', { name: 'Jump to Latest' }).count()).toBe(0);
    }));

  test('what is entirely in sight after a rollback offers no jump, and is followed', () =>
    inChat(async ({ tell, page }) => {
      const log = page.locator('.log');
      await tell(reset({ items: many }));
      await log.evaluate((element) => element.scrollTo(0, 0));
      await page.getByRole('button', { name: 'Jump to Latest' }).waitFor();
      await tell(reset({ items: many.slice(0, 1) }));
      await expect.poll(() => page.getByRole('button', { name: 'Jump to Latest' }).count()).toBe(0);
      await tell(reset({ items: many }));
      await expect
        .poll(() =>
          log.evaluate(
            (element) => element.scrollHeight - element.scrollTop - element.clientHeight,
          ),
        )
        .toBeLessThan(24);
    }));

  test('a composer that grows does not hide the end', () =>
    inChat(async ({ tell, page }) => {
      await tell(reset({ items: many }));
      await page.getByRole('textbox', { name: 'Message' }).fill('one\n'.repeat(8));
      await tell();
      await expect.poll(() => page.getByRole('button', { name: 'Jump to Latest' }).count()).toBe(0);
      expect(await page.locator('.row').last().textContent()).toContain('Message 59');
    }));

  test('the place is found again after the page was thrown away', () =>
    inChat(async ({ tell, page, reload }) => {
      await tell(reset({ items: many }));
      await page.locator('.log').evaluate((log) => log.scrollTo(0, 1500));
      await tell();
      const top = () =>
        page.evaluate(() => {
          const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
          const log = document.querySelector('.log')?.getBoundingClientRect().top ?? 0;
          const first = rows.find((row) => row.getBoundingClientRect().bottom > log);
          return [
            first?.dataset['row'],
            Math.round((first?.getBoundingClientRect().top ?? 0) - log),
          ];
        });
      const before = await top();
      await reload();
      await tell(reset({ items: many }));
      await expect.poll(top).toEqual(before);
    }));
});

describe('safety', () => {
  const ATTACKS = [
    '<script>window.hacked = 1</script>',
    '<img src=x onerror="window.hacked = 1">',
    '<svg><script>window.hacked = 1</script></svg>',
    '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
    '[click](javascript:window.hacked=1)',
    '<a href="javascript:window.hacked=1">click</a>',
    '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)',
    '![track](https://tracker.example/pixel.png)',
    '```html\n<img src=x onerror="window.hacked = 1">\n```',
    '```"><script>window.hacked=1</script>\nx\n```',
    '<<script>script>window.hacked = 1<</script>/script>',
    '<form action="https://evil.example"><input name=q></form>',
    '<style>body{display:none}</style>',
    '| <b onclick="window.hacked=1">a</b> |\n|---|\n| [b](data:text/html,x) |',
  ];

  test('nothing in a model text, a tool or a notice runs, loads or restyles', () =>
    inChat(async ({ tell, page }) => {
      const attack = ATTACKS.join('\n\n');
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await tell(
        reset({
          items: [
            reply('a', attack),
            { kind: 'notice', id: 'n', severity: 'info', title: attack, description: attack },
            tool({ title: attack, input: attack, output: attack }),
          ],
        }),
      );
      const text = page.locator('.markdown');
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
      expect(await text.locator('script, iframe, style, form, input, svg, object, b').count()).toBe(
        0,
      );
      expect(
        await text.evaluate((root) =>
          [...root.querySelectorAll('*')].flatMap((element) =>
            [...element.attributes]
              .filter(
                ({ name, value }) =>
                  name.startsWith('on') || /^\s*(javascript|data:text)/i.test(value),
              )
              .map(({ name }) => name),
          ),
        ),
      ).toEqual([]);
      expect(requests).toEqual([]);
    }));

  test('a link goes to the extension and the page stays', () =>
    inChat(async ({ tell, page, said }) => {
      await tell(
        reset({
          items: [reply('a', '[guide](https://example.com/guide) and [file](src/a.ts#L3)')],
        }),
      );
      await page.getByRole('link', { name: 'guide' }).click();
      await page.getByRole('link', { name: 'file' }).click();
      expect((await said('open_link')).map(({ href }) => href)).toEqual([
        'https://example.com/guide',
        'src/a.ts#L3',
      ]);
      expect(await page.locator('.composer').count()).toBe(1);
    }));
});

test('code, files, diffs and Retry reach the extension', () =>
  inChat(
    async ({ tell, page, said }) => {
      await tell(reset({ items: CONVERSATION }));
      await page.getByRole('button', { name: 'Copy' }).click();
      await page.getByRole('button', { name: 'Open src/greet.ts in Diff Editor' }).click();
      await page.getByRole('button', { name: 'greet.ts:2' }).click();
      await page.getByRole('button', { name: 'Open greet.ts' }).click();
      await page.getByRole('button', { name: 'Retry' }).click();
      expect((await said('copy'))[0]?.text).toMatch(/^export function greet[\s\S]+\}$/);
      expect(await said('open_diff')).toEqual([
        { type: 'open_diff', toolCallId: 'tool-2', path: 'src/greet.ts' },
      ]);
      expect((await said('open_location'))[0]).toMatchObject({ line: 2 });
      expect((await said('open_attachment'))[0]?.uri).toBe(
        'file:///home/ada/projects/greeter/src/greet.ts',
      );
      expect(await said('retry')).toEqual([{ type: 'retry', turnEndId: 'e1' }]);
      await tell({ type: 'status', status: { ...IDLE, activity: 'running', turnId: 't2' } });
      expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    },
    { height: 1400, width: 420 },
  ));

import { z } from 'zod';
import type { PreparedCall, Tool, ToolContext, ToolOutcome } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool } from '../define-tool.ts';
import { imageTypeOf } from '../files/file-type.ts';
import { completed, failed } from '../outcome.ts';
import { headOf } from '../text-limit.ts';
import { type FetchOptions, type HttpAnswer, httpGet, parseHttpUrl } from './http-get.ts';
import { readableText } from './readable-text.ts';

const MAX_TEXT_BYTES = 96 * 1024;

type Input = { url: string };

/** Fetches one page: text as it is, HTML as readable text, images as images. */
export function fetchTool(options: FetchOptions): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.fetch,
    description:
      'Fetches a public http or https URL and gives its text; web pages are turned into plain text.',
    kind: 'fetch',
    readOnly: true,
    input: z.object({ url: z.string().describe('The whole URL.') }),
    async prepare(args): Promise<PreparedCall> {
      const url = parseHttpUrl(args.url);
      return {
        accesses: [{ kind: 'fetch', url: url.href }],
        preview: {
          title: `Fetch ${headOf(url.href, 120)}`,
          kind: 'fetch',
          locations: [],
          content: [],
        },
        run: async (running: ToolContext) => outcomeOf(await httpGet(url, options, running.signal)),
      };
    },
  });
}

async function outcomeOf(answer: HttpAnswer): Promise<ToolOutcome> {
  const { status, contentType, body } = answer;
  const rawOutput = { url: answer.url.href, status, contentType, bytes: body.length };
  if (answer.elsewhere !== null)
    return completed(
      `${answer.url.href} redirects to ${answer.elsewhere.href}. Fetch that URL if it is the one you want.`,
      { rawOutput },
    );
  const image = imageTypeOf(body);
  if (image !== null && !answer.truncated && status < 400) return imageOutcome(body, image);
  const text = await readableText(body, contentType);
  if (text === null)
    return failed(
      `${answer.url.href} is ${contentType || 'of no stated type'}, ${body.length} bytes: not text. Use the run tool to download it.`,
      { rawOutput },
    );
  const head = headOf(text, MAX_TEXT_BYTES);
  const cut = answer.truncated || head.length < text.length;
  const note = cut ? '\n\n[The page is longer; the rest was left out.]' : '';
  if (status >= 400) return failed(`HTTP status ${status}.\n${headOf(text, 4000)}`, { rawOutput });
  return completed(head + note, { rawOutput });
}

function imageOutcome(body: Buffer, mimeType: string): ToolOutcome {
  const data = body.toString('base64');
  return {
    status: 'completed',
    parts: [{ type: 'image', mimeType, data }],
    content: [{ type: 'content', content: { type: 'image', mimeType, data } }],
  };
}

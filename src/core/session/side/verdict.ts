import * as z from 'zod/mini';

const shape = z.object({
  verdict: z.enum(['done', 'continue']),
  reason: z.optional(z.nullable(z.string())),
  correction: z.optional(z.nullable(z.string())),
});

/** What a judge said. */
export type Verdict =
  | { readonly kind: 'done'; readonly reason: string }
  | { readonly kind: 'continue'; readonly reason: string; readonly correction: string };

/** Reads a judge's answer: one JSON object, alone, in a fence, or with words around it. Null when it is none. */
export function readVerdict(text: string): Verdict | null {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start < 0 || end < start) return null;
  const parsed = shape.safeParse(parse(text.slice(start, end + 1)));
  if (!parsed.success) return null;
  const { verdict, correction } = parsed.data;
  const reason = parsed.data.reason?.trim() ?? '';
  if (verdict === 'done') return { kind: 'done', reason };
  const told = correction?.trim() ?? '';
  if (told === '' && reason === '') return null;
  return { kind: 'continue', reason, correction: told === '' ? reason : told };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

import { isObject, type Json, type JsonObject } from '../../../base/json.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { splitAt, splitEvery, unquote, unquoteRaw } from './quotes.ts';
import {
  type Failure,
  LIMITS,
  type ReplyStatement,
  type Statement,
  type ToolStatement,
} from './statement.ts';

/** Either a statement or the hint for a person whose line has a known verb but can't be read. */
type Parsed = Statement | { readonly hint: string };

type Rule = {
  /** Matches the verb and what separates it from the rest. */
  readonly verb: RegExp;
  readonly parse: (rest: string) => Parsed;
};

const NOT_CLOSED = 'the double quote is never closed';

/** Reads one value that must not be empty; `what` names it in the hint. */
function value(
  raw: string,
  what: string,
  read: (text: string) => string | null,
): { readonly ok: string } | { readonly hint: string } {
  const text = read(raw);
  if (text === null) return { hint: NOT_CLOSED };
  return text === '' ? { hint: `${what} is missing` } : { ok: text };
}

function one(
  raw: string,
  what: string,
  make: (text: string) => Statement,
  read: (text: string) => string | null = unquote,
): Parsed {
  const got = value(raw, what, read);
  return 'hint' in got ? got : make(got.ok);
}

function tool(name: string, input: JsonObject): ToolStatement {
  return { kind: 'tool', name, input };
}

function parseSearch(rest: string): Parsed {
  const split = splitAt(rest, ' in ');
  const pattern = value(split === null ? rest : split[0], 'the pattern', unquote);
  if ('hint' in pattern) return pattern;
  if (split === null) return tool(TOOL_NAMES.search, { pattern: pattern.ok });
  return one(
    split[1],
    'the path after ` in `',
    (path) => tool(TOOL_NAMES.search, { pattern: pattern.ok, path }),
    unquoteRaw,
  );
}

function writeTo(rawPath: string, rawText: string): Parsed {
  const path = value(rawPath, 'the path', unquoteRaw);
  if ('hint' in path) return path;
  const text = unquote(rawText);
  return text === null ? { hint: NOT_CLOSED } : tool(TOOL_NAMES.write, { path: path.ok, text });
}

function parseWrite(rest: string): Parsed {
  // A Windows drive's colon is part of the path.
  const drive = /^["'`]?[a-z]:[\\/]/i.test(rest) ? rest.indexOf(':') + 1 : 0;
  const split = splitAt(rest.slice(drive), ':');
  if (split === null) return { hint: 'write `write PATH: TEXT`, with a colon after the path' };
  return writeTo(rest.slice(0, drive) + split[0], split[1]);
}

function parseCreate(rest: string): Parsed {
  const split = splitAt(rest, ' containing exactly:') ?? splitAt(rest, ' containing:');
  if (split === null) {
    return { hint: 'write `create a file named PATH containing exactly: TEXT`' };
  }
  return writeTo(split[0], split[1]);
}

function parseReplace(rest: string): Parsed {
  const hint = 'write `replace OLD with NEW in PATH`, and quote what holds ` with ` or ` in `';
  const first = splitAt(rest, ' with ');
  const second = first === null ? null : splitAt(first[1], ' in ');
  if (first === null || second === null) return { hint };
  const oldText = value(first[0], 'the old text', unquote);
  if ('hint' in oldText) return oldText;
  const newText = unquote(second[0]);
  if (newText === null) return { hint: NOT_CLOSED };
  return one(
    second[1],
    'the path',
    (path) => tool(TOOL_NAMES.edit, { path, old_text: oldText.ok, new_text: newText }),
    unquoteRaw,
  );
}

function parseCall(rest: string): Parsed {
  const split = splitAt(rest, ' with ');
  const name = value(split === null ? rest : split[0], 'the tool name', unquoteRaw);
  if ('hint' in name) return name;
  if (/\s/.test(name.ok)) return { hint: 'write `call TOOL with JSON`; a tool name has no spaces' };
  if (split === null) return tool(name.ok, {});
  try {
    const input: unknown = JSON.parse(split[1]);
    if (isObject(input)) return tool(name.ok, input as Record<string, Json>);
    return { hint: 'what follows ` with ` must be a JSON object, for example {"path": "a.txt"}' };
  } catch {
    return { hint: 'what follows ` with ` is not valid JSON' };
  }
}

function parsePlan(rest: string): Parsed {
  const entries = splitEvery(rest, ';').flatMap((entry) => {
    const content = unquote(entry);
    return content === null || content === '' ? [] : [{ content }];
  });
  return entries.length === 0
    ? { hint: 'write `plan: A; B; C`' }
    : tool(TOOL_NAMES.plan, { entries });
}

function parseWait(rest: string): Parsed {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)\s*(?:s|sec|seconds?)?\.?$/i.exec(rest);
  const seconds = Number(match?.[1] ?? Number.NaN);
  if (Number.isNaN(seconds) || seconds > LIMITS.waitSeconds) {
    return { hint: `write \`wait N\` with N in seconds, 0 to ${LIMITS.waitSeconds}` };
  }
  return { kind: 'wait', seconds };
}

function parseCount(rest: string): Parsed {
  const match = /^slowly\s+from\s+(-?\d{1,9})\s+to\s+(-?\d{1,9})\.?$/i.exec(rest);
  const from = Number(match?.[1] ?? Number.NaN);
  const to = Number(match?.[2] ?? Number.NaN);
  if (Number.isNaN(from) || Math.abs(to - from) >= LIMITS.countLines) {
    return {
      hint: `write \`count slowly from A to B\` with whole numbers, at most ${LIMITS.countLines} of them`,
    };
  }
  return { kind: 'count', from, to };
}

function parseFail(rest: string): Parsed {
  const named: Readonly<Record<string, Failure>> = {
    cut: { kind: 'cut' },
    'cut stream': { kind: 'cut' },
    'a cut stream': { kind: 'cut' },
    timeout: { kind: 'timeout' },
  };
  const known = Object.hasOwn(named, rest.toLowerCase()) ? named[rest.toLowerCase()] : undefined;
  if (known !== undefined) return { kind: 'fail', failure: known };
  if (/^[45]\d\d$/.test(rest)) {
    return { kind: 'fail', failure: { kind: 'status', status: Number(rest) } };
  }
  return { hint: 'write `fail with` and an HTTP status from 400 to 599, `cut` or `timeout`' };
}

function parseTogether(rest: string): Parsed {
  const parts: ReplyStatement[] = [];
  for (const text of splitEvery(rest, ';')) {
    const part = parseStatement(text);
    switch (part.kind) {
      case 'say':
      case 'think':
      case 'tool':
      case 'wait':
        parts.push(part);
        break;
      case 'problem':
        return { hint: `in \`${text}\`: ${part.hint}` };
      default:
        return { hint: `\`${text}\` can't stand in a \`together\` line` };
    }
  }
  return parts.length === 0
    ? { hint: 'write `together: S1 ; S2 ; S3`' }
    : { kind: 'together', parts };
}

const RULES: readonly Rule[] = [
  {
    verb: /^say(?:\s*:|\s|$)\s*/i,
    parse: (rest) => one(rest, 'the text', (text) => ({ kind: 'say', text })),
  },
  {
    verb: /^reply\s+with\s+exactly\s*(?::|\s|$)\s*/i,
    parse: (rest) => one(rest, 'the text', (text) => ({ kind: 'say', text })),
  },
  {
    verb: /^think(?:\s*:|\s|$)\s*/i,
    parse: (rest) => one(rest, 'the text', (text) => ({ kind: 'think', text })),
  },
  {
    verb: /^read(?:\s|$)\s*/i,
    parse: (rest) => one(rest, 'the path', (path) => tool(TOOL_NAMES.read, { path }), unquoteRaw),
  },
  {
    verb: /^list(?:\s|$)\s*/i,
    parse: (rest) =>
      rest === ''
        ? tool(TOOL_NAMES.list, {})
        : one(rest, 'the path', (path) => tool(TOOL_NAMES.list, { path }), unquoteRaw),
  },
  { verb: /^search(?:\s|$)\s*/i, parse: parseSearch },
  { verb: /^write(?:\s|$)\s*/i, parse: parseWrite },
  { verb: /^create\s+(?:a\s+)?file\s+(?:named|called)(?:\s|$)\s*/i, parse: parseCreate },
  { verb: /^replace(?:\s|$)\s*/i, parse: parseReplace },
  {
    verb: /^run(?:\s|$)\s*/i,
    parse: (rest) =>
      one(rest, 'the command', (command) => tool(TOOL_NAMES.run, { command }), unquoteRaw),
  },
  {
    verb: /^start(?:\s|$)\s*/i,
    parse: (rest) =>
      one(rest, 'the command', (command) => tool(TOOL_NAMES.processStart, { command }), unquoteRaw),
  },
  {
    verb: /^ask(?:\s*:|\s|$)\s*/i,
    parse: (rest) => one(rest, 'the question', (question) => tool(TOOL_NAMES.ask, { question })),
  },
  {
    verb: /^delegate\s+in\s+(?:the\s+)?background\s*:\s*/i,
    parse: (rest) =>
      one(rest, 'the task', (prompt) => tool(TOOL_NAMES.delegate, { prompt, background: true })),
  },
  {
    verb: /^delegate\s*:\s*/i,
    parse: (rest) => one(rest, 'the task', (prompt) => tool(TOOL_NAMES.delegate, { prompt })),
  },
  { verb: /^plan\s*:\s*/i, parse: parsePlan },
  { verb: /^call(?:\s|$)\s*/i, parse: parseCall },
  { verb: /^together\s*:\s*/i, parse: parseTogether },
  { verb: /^wait(?:\s|$)\s*/i, parse: parseWait },
  { verb: /^count(?=\s+slowly(?:\s|$))\s*/i, parse: parseCount },
  { verb: /^fail\s+with(?:\s|$)\s*/i, parse: parseFail },
  {
    verb: /^finish\s+with(?:\s*:|\s|$)\s*/i,
    parse: (rest) => one(rest, 'the text', (text) => ({ kind: 'finish', text })),
  },
];

const STREAM: Rule = {
  verb: /^stream(?=\s+\d)\s*/i,
  parse: (rest) => {
    const chunks = Number(/^(\d{1,9})\s+chunks?$/i.exec(rest)?.[1] ?? Number.NaN);
    return Number.isNaN(chunks) || chunks > LIMITS.streamChunks
      ? { hint: `write \`stream N chunks\`, at most ${LIMITS.streamChunks}` }
      : { kind: 'stream', chunks };
  },
};

/** Reads one statement; never throws. `bench` adds `stream N chunks`. */
export function parseStatement(line: string, bench = false): Statement {
  for (const rule of bench ? [...RULES, STREAM] : RULES) {
    const verb = rule.verb.exec(line);
    if (verb === null) continue;
    const parsed = rule.parse(line.slice(verb[0].length).trim());
    return 'kind' in parsed ? parsed : { kind: 'problem', line, hint: parsed.hint };
  }
  return { kind: 'unknown', line };
}

/** Reads a script, one statement a line; a leading `- `, `* `, `1. ` or `1) ` and empty lines are skipped. */
export function parseScript(text: string, bench = false): Statement[] {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trim().replace(/^(?:[-*]|\d{1,9}[.)])\s+/, ''))
    .filter((line) => line !== '')
    .map((line) => parseStatement(line, bench));
}

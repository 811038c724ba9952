import type {
  ChatDiff,
  ChatGate,
  ChatItem,
  ChatStatus,
  ChatTool,
  ToChat,
} from '../../../src/protocol/chat.ts';

/** A session at rest. */
export const IDLE: ChatStatus = {
  activity: 'idle',
  sessionId: 's1',
  turnId: null,
  title: 'Make the greeting polite',
  cwd: '/home/ada/projects/greeter',
  options: [
    {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      type: 'select',
      currentValue: 'ask',
      options: [
        { value: 'ask', name: 'Ask' },
        { value: 'architect', name: 'Architect' },
        { value: 'code', name: 'Code' },
      ],
    },
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: 'rehearsal/script',
      options: [
        {
          group: 'built-in',
          name: 'Built in',
          options: [{ value: 'rehearsal/script', name: 'Rehearsal' }],
        },
        {
          group: 'local',
          name: 'Local',
          options: [
            { value: 'ollama/qwen', name: 'Qwen 3 Coder 30B' },
            { value: 'ollama/llama', name: 'Llama 4' },
          ],
        },
      ],
    },
  ],
  commands: [
    { name: 'compact', description: 'Shorten the conversation' },
    { name: 'review', description: 'Review the changes of this session', hint: 'what to look at' },
  ],
  usage: { used: 42_300, size: 200_000, cost: '$0.12' },
  pending: [],
  nextTurns: { paused: null, items: [] },
  runningSend: 'steer',
  staged: null,
  canRedo: false,
  queued: [],
  rehearsal: false,
};

/** A turn under way. */
export const RUNNING: ChatStatus = { ...IDLE, activity: 'running', turnId: 't1' };

/** A `reset` with what a test cares about. */
export function reset(part: Partial<Extract<ToChat, { type: 'reset' }>> = {}): ToChat {
  return {
    type: 'reset',
    status: IDLE,
    items: [],
    hasBefore: false,
    gates: [],
    strings: {},
    ...part,
  };
}

/** A tool call with what a test cares about. */
export function tool(part: Partial<ChatTool>): ChatTool {
  return {
    kind: 'tool',
    id: 'tool-1',
    title: 'npm test',
    name: 'run',
    toolKind: 'execute',
    status: 'completed',
    input: '',
    locations: [],
    diffs: [],
    output: '',
    outputCut: 0,
    images: [],
    ...part,
  };
}

export const DIFF: ChatDiff = {
  path: 'src/greet.ts',
  added: 2,
  removed: 1,
  isNew: false,
  cut: false,
  lines: [
    { mark: '@', text: '@@ -1,4 +1,5 @@' },
    { mark: ' ', text: 'export function greet(name: string): string {' },
    { mark: '-', text: '  return "Hi " + name;' },
    { mark: '+', text: '  const polite = name.trim();' },
    { mark: '+', text: '  return "Good day, " + polite;' },
    { mark: ' ', text: '}' },
  ],
};

export const PERMISSION: Extract<ChatGate, { kind: 'permission' }> = {
  kind: 'permission',
  gateId: 'g1',
  toolCallId: 'tool-3',
  title: 'Run a command',
  reason: 'mode "ask" asks before every command',
  details: ['npm test -- --run greet'],
  diffs: [],
  options: [
    { optionId: 'allow_once', name: 'Allow Once', kind: 'allow_once' },
    { optionId: 'allow_session', name: 'Allow for Session', kind: 'allow_always' },
    { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
  ],
};

export const ASK: Extract<ChatGate, { kind: 'ask' }> = {
  kind: 'ask',
  gateId: 'g2',
  message: 'How should the greeting be worded?',
  schema: {
    type: 'object',
    required: ['wording', 'tone'],
    properties: {
      wording: { type: 'string', title: 'Wording', description: 'As it is shown', minLength: 2 },
      tone: {
        type: 'string',
        title: 'Tone',
        oneOf: [
          { const: 'formal', title: 'Formal' },
          { const: 'warm', title: 'Warm' },
        ],
      },
      times: { type: 'integer', title: 'How often', minimum: 1, maximum: 3, default: 1 },
      languages: {
        type: 'array',
        title: 'Languages',
        items: { type: 'string', enum: ['English', 'German'] },
      },
      shout: { type: 'boolean', title: 'Shout it' },
    },
  },
};

export const AUTH: Extract<ChatGate, { kind: 'auth' }> = {
  kind: 'auth',
  gateId: 'g3',
  target: 'MCP server "tickets"',
  message: 'Sign in to tickets.example',
  url: 'https://tickets.example/authorize?state=1',
};

const REPLY = `I looked at **src/greet.ts**. The greeting is built in one place:

\`\`\`ts
export function greet(name: string): string {
  // Everyone is greeted the same way.
  return \`Hi \${name}\`;
}
\`\`\`

1. Make it polite, see [the guide](https://example.com/guide)
2. Keep \`greet\` pure

| case | before | after |
|---|---|---|
| Ada | Hi Ada | Good day, Ada |

> The tests already cover the empty name.
`;

/** A conversation with one row of every kind. */
export const CONVERSATION: readonly ChatItem[] = [
  {
    kind: 'user',
    id: 'u1',
    at: 1_760_000_000_000,
    text: 'Make the greeting in @greet.ts polite and run the tests.',
    attachments: [
      { kind: 'file', name: 'greet.ts', uri: 'file:///home/ada/projects/greeter/src/greet.ts' },
      { kind: 'diagnostics', name: '2 problems', uri: 'diagnostics:greet' },
    ],
  },
  { kind: 'thought', id: 'th1', text: 'The person wants **politeness**.', streaming: false },
  {
    kind: 'plan',
    id: 'p1',
    entries: [
      { text: 'Read the greeting', status: 'completed' },
      { text: 'Make it polite', status: 'in_progress' },
      { text: 'Run the tests', status: 'pending' },
    ],
  },
  tool({
    id: 'tool-1',
    title: 'Read src/greet.ts',
    name: 'read',
    toolKind: 'read',
    locations: [{ path: '/home/ada/projects/greeter/src/greet.ts', line: 1 }],
  }),
  { kind: 'assistant', id: 'a1', text: REPLY, streaming: false },
  tool({
    id: 'tool-2',
    title: 'Edit src/greet.ts',
    name: 'edit',
    toolKind: 'edit',
    diffs: [DIFF],
    locations: [{ path: '/home/ada/projects/greeter/src/greet.ts', line: 2 }],
  }),
  { kind: 'answer', id: 'an1', text: 'Edit src/greet.ts: allowed by you', allowed: true },
  tool({
    id: 'tool-3',
    input: '$ npm test',
    output:
      '\u001B[32m✓\u001B[0m greets politely (2 ms)\n\u001B[31m✗\u001B[0m greets nobody\n\n1 passed, 1 failed\n',
    status: 'failed',
  }),
  {
    kind: 'notice',
    id: 'n1',
    severity: 'warning',
    title: 'MCP server "tickets" is not reachable',
    description: 'Its tools are not offered in this turn.',
  },
  {
    kind: 'turn_end',
    id: 'e1',
    stopReason: 'end_turn',
    terminal: 'provider_error',
    reason: 'the provider answered 500 three times',
    seconds: 12.4,
  },
];

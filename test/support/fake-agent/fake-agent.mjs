// An agent over real stdio that does as its prompt says; it keeps no files. For tests of the extension's client.
// Lines of a prompt: `say TEXT`, `ask TITLE` (permission), `form MESSAGE`, `hang` (until cancelled),
// `seam` (delivers what is pending), `option ID` (says its value), `deaf` (ignores cancel), `late TEXT` (said after the answer), `raw LINE` (written to stdout as it is), `die`.
const sessions = new Map();
const waiting = new Map();
let nextId = 1;

const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, fields) =>
  write({ method: 'session/update', params: { sessionId, update: fields } });

function call(method, params) {
  const id = `fake-${nextId++}`;
  write({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function stamp(session) {
  session.events += 1;
  return { harn: { eventId: session.events, sessionId: session.sessionId, replayed: false } };
}

function record(session, fields) {
  const meta = stamp(session);
  session.history.push({
    eventId: session.events,
    at: new Date().toISOString(),
    updates: [{ ...fields, _meta: { ...fields._meta, ...meta } }],
  });
  write({
    method: 'session/update',
    params: { sessionId: session.sessionId, update: fields, _meta: meta },
  });
}

const say = (session, text) =>
  record(session, {
    sessionUpdate: 'agent_message_chunk',
    messageId: `m${session.events + 1}`,
    content: { type: 'text', text },
  });

const info = (pilothouse) => ({
  sessionUpdate: 'session_info_update',
  _meta: { pilothouse },
});

async function runLine(session, line, turn) {
  const [verb, ...words] = line.split(' ');
  const text = words.join(' ');
  if (verb === 'say') say(session, text);
  if (verb === 'seam') deliver(session);
  if (verb === 'raw') process.stdout.write(`${text}\n`);
  if (verb === 'option') say(session, String(session.options.get(text)));
  if (verb === 'die') process.kill(process.pid, 'SIGKILL');
  if (verb === 'late') turn.late.push(text);
  if (verb === 'hang') await turn.cancelled;
  if (verb === 'deaf') await new Promise(() => undefined);
  if (verb === 'ask') {
    const answer = await call('session/request_permission', {
      sessionId: session.sessionId,
      toolCall: { toolCallId: `tool-${nextId++}`, title: text, kind: 'execute' },
      options: [
        { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
        { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
      ],
    });
    say(session, JSON.stringify(answer.result?.outcome ?? answer.error));
  }
  if (verb === 'form') {
    const answer = await call('elicitation/create', {
      sessionId: session.sessionId,
      mode: 'form',
      message: text,
      requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
    });
    say(session, JSON.stringify(answer.result ?? answer.error));
  }
}

const OWNER = { clientId: 'fake', role: 'host_owner', source: 'acp' };

function waitingChanged({ sessionId, pending, queue }) {
  write({ method: '_pilothouse/pending_changed', params: { sessionId, pending, queue } });
}

function receipt({ sessionId }, method, outcome, status, target = {}) {
  const control = { control_id: `c${nextId++}`, method, outcome, status, actor: OWNER };
  const whole = { ...control, target: { sessionId, ...target }, metadata: {} };
  write({
    method: '_harn/agentEvent',
    params: { sessionId, session_id: sessionId, kind: 'control_outcome', ...whole },
  });
}

function deliver(session) {
  for (const { messageId, mode, content } of session.pending)
    record(session, {
      sessionUpdate: 'user_message',
      messageId,
      content,
      _meta: { pilothouse: { inject: { messageId, mode, seam: 'post_tool_dispatch' } } },
    });
  session.pending = [];
  waitingChanged(session);
}

function giveBack(session) {
  const back = session.pending;
  session.pending = [];
  if (back.length > 0) waitingChanged(session);
  for (const { messageId } of back)
    receipt(session, 'session/revoke_inject', 'given_back', 'accepted', { messageId });
}

class Refused extends Error {
  constructor(code, data) {
    super('refused');
    this.error = { code, message: 'refused', data };
  }
}

function inject({ sessionId, mode, content }) {
  const session = sessions.get(sessionId);
  if (session.turns.size === 0) {
    receipt(session, 'session/inject', 'no_active_prompt', 'rejected');
    throw new Refused(-32004, { reasons: ['no_active_prompt'] });
  }
  const messageId = `inject-${nextId++}`;
  const at = '2026-01-01T00:00:00Z';
  const message = { kind: 'user', messageId, mode, content, owner: OWNER, at, behindGate: false };
  session.pending.push(message);
  waitingChanged(session);
  receipt(session, 'session/inject', 'accepted', 'accepted', { messageId });
  return { messageId, status: 'accepted' };
}

function pendingOf({ sessionId, messageId }) {
  const session = sessions.get(sessionId);
  const message = session.pending.find((one) => one.messageId === messageId);
  if (!message) throw new Refused(-32602, { reason: 'already_delivered', messageId });
  return { session, message };
}

function changeQueue(sessionId, change) {
  const session = sessions.get(sessionId);
  change(session.queue);
  waitingChanged(session);
  return { itemId: null, queue: session.queue };
}

async function prompt(session, params) {
  const before = session.turn;
  const turn = { isCancelled: false, late: [], cancel: () => undefined, cancelled: undefined };
  turn.cancelled = new Promise((resolve) => {
    turn.cancel = () => {
      turn.isCancelled = true;
      resolve();
    };
  });
  session.turns.add(turn);
  const run = (async () => {
    await before;
    const commandId = params._meta?.pilothouse?.commandId;
    const turnId = `turn-${nextId++}`;
    if (!turn.isCancelled) {
      record(session, info({ turn: { state: 'started', turnId, commandId } }));
      const lines = params.prompt.flatMap((block) => (block.text ?? block.uri ?? '').split('\n'));
      for (const line of lines) if (!turn.isCancelled) await runLine(session, line, turn);
    }
    session.turns.delete(turn);
    if (session.turns.size === 0) giveBack(session);
    const stopReason = turn.isCancelled ? 'cancelled' : 'end_turn';
    const kind = turn.isCancelled ? 'user_cancelled' : 'natural';
    const terminal = { kind, owner: 'agent', reason: '' };
    const ended = { turn: { state: 'ended', turnId, stopReason, terminal } };
    record(session, info(ended));
    return { stopReason, _meta: { harn: { terminal } } };
  })();
  session.turn = run;
  const result = await run;
  setTimeout(() => {
    for (const text of turn.late)
      update(session.sessionId, {
        sessionUpdate: 'agent_message_chunk',
        messageId: 'late',
        content: { type: 'text', text },
      });
  }, 5);
  return result;
}

function page(session, { before, limit = 200 }) {
  const all = session.history.filter((entry) => before === undefined || entry.eventId < before);
  const entries = all.slice(-limit);
  return {
    entries,
    hasBefore: entries.length < all.length,
    hasAfter: false,
    lastEventId: session.events,
  };
}

const HANDLERS = {
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: 'fake', version: '0' },
    agentCapabilities: { _meta: { pilothouse: { version: 1, methods: [] } } },
  }),
  'session/new': ({ cwd }) => {
    const sessionId = `s${sessions.size + 1}`;
    sessions.set(sessionId, {
      sessionId,
      cwd,
      events: 0,
      history: [],
      turns: new Set(),
      turn: null,
      options: new Map(),
      pending: [],
      queue: { paused: null, items: [] },
    });
    return { sessionId, configOptions: [] };
  },
  // Takes its time, so that a prompt that does not wait for the answer runs with the old value.
  'session/set_config_option': async ({ sessionId, configId, value }) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    sessions.get(sessionId).options.set(configId, value);
    return { configOptions: [] };
  },
  'session/resume': ({ sessionId, cwd }) => {
    if (!sessions.has(sessionId))
      sessions.set(sessionId, {
        sessionId,
        cwd,
        events: 0,
        history: [],
        turns: new Set(),
        turn: null,
        pending: [],
        queue: { paused: null, items: [] },
      });
    return { configOptions: [] };
  },
  'session/list': () => ({
    sessions: [...sessions.values()].map(({ sessionId, cwd }) => ({
      sessionId,
      cwd,
      updatedAt: '2026-01-01T00:00:00Z',
    })),
  }),
  'session/prompt': (params) => prompt(sessions.get(params.sessionId), params),
  'session/delete': ({ sessionId }) => {
    sessions.delete(sessionId);
    return {};
  },
  'session/inject': inject,
  'session/revoke_inject': (params) => {
    const { session, message } = pendingOf(params);
    session.pending = session.pending.filter((one) => one !== message);
    waitingChanged(session);
    receipt(session, 'session/revoke_inject', 'revoked', 'accepted', params);
    return { messageId: params.messageId, status: 'revoked' };
  },
  'session/replace_inject': (params) => {
    const { session, message } = pendingOf(params);
    message.content = params.content;
    waitingChanged(session);
    return { messageId: params.messageId, status: 'replaced' };
  },
  'session/pending_injections': ({ sessionId }) => {
    const { pending } = sessions.get(sessionId);
    return { pendingCount: pending.length, injections: pending };
  },
  '_pilothouse/queue/list': ({ sessionId }) => sessions.get(sessionId).queue,
  '_pilothouse/queue/add': ({ sessionId, itemId, content }) =>
    changeQueue(sessionId, (queue) =>
      queue.items.push({ itemId, content, owner: OWNER, at: '2026-01-01T00:00:00Z' }),
    ),
  '_pilothouse/queue/pause': ({ sessionId }) =>
    changeQueue(sessionId, (queue) => {
      queue.paused = 'asked';
    }),
  '_pilothouse/history/page': (params) => page(sessions.get(params.sessionId), params),
  '_pilothouse/models/configure': () => ({ problems: [] }),
  '_pilothouse/never': () => new Promise(() => undefined),
};

async function receive(message) {
  if (message.method === undefined) {
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
    return;
  }
  if (message.method === 'session/cancel')
    for (const turn of sessions.get(message.params.sessionId)?.turns ?? []) turn.cancel();
  if (message.id === undefined) return;
  const handler = HANDLERS[message.method];
  if (!handler) {
    write({ id: message.id, error: { code: -32601, message: 'Method not found' } });
    return;
  }
  try {
    write({ id: message.id, result: await handler(message.params) });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    write({ id: message.id, error: error.error });
  }
}

for (const line of process.argv.slice(2)) process.stdout.write(`${line}\n`);
let rest = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) void receive(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));

// An agent over real stdio that does as its prompt says; it keeps no files. For tests of the extension's client.
// Lines of a prompt: `say TEXT`, `ask TITLE` (permission), `form MESSAGE`, `hang` (until cancelled),
// `option ID` (says its value), `deaf` (ignores cancel), `late TEXT` (said after the answer), `raw LINE` (written to stdout as it is), `die`.
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
  write({ id: message.id, result: await handler(message.params) });
}

for (const line of process.argv.slice(2)) process.stdout.write(`${line}\n`);
let rest = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) void receive(JSON.parse(line));
});
process.stdin.on('end', () => process.exit(0));

// An ACP agent that does nothing: the official SDK, answering everything with as little as fits the schema.
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const { agent: calls, client: clientCalls } = methods;

agent({ name: 'idle' })
  .onRequest(calls.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(calls.session.new, () => ({ sessionId: 'idle' }))
  .onRequest(calls.session.prompt, async ({ params, client }) => {
    await client.notify(clientCalls.session.update, {
      sessionId: params.sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '.' } },
    });
    return { stopReason: 'end_turn' };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

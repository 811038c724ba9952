import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer, type RegisteredTool } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A one-pixel PNG. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Where the tool `ask_page` sends a person. */
export const PAGE = 'https://pay.example/now';

/** A server with a tool for every way that a call can go. Behaves the same over every transport. */
export function createToolbox(name = 'toolbox'): McpServer {
  const server = new McpServer(
    { name, version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  );
  addAnswers(server);
  addTrouble(server);
  addQuestions(server);
  addListChanges(server);
  return server;
}

function addAnswers(server: McpServer): void {
  server.registerTool(
    'echo',
    {
      title: 'Echo',
      description: 'Says it back',
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ text }) => ({ content: [{ type: 'text', text: `echo: ${text}` }] }),
  );
  server.registerTool(
    'write_file',
    { description: 'Writes a file', inputSchema: z.object({ path: z.string(), text: z.string() }) },
    ({ path, text }) => {
      writeFileSync(path, text);
      return { content: [{ type: 'text', text: 'written' }] };
    },
  );
  server.registerTool('picture', { description: 'A picture' }, () => ({
    content: [
      { type: 'image', mimeType: 'image/png', data: PIXEL },
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' },
      { type: 'resource', resource: { uri: 'mem://b', text: 'in memory' } },
    ],
  }));
  server.registerTool(
    'measure',
    { description: 'A structured answer', outputSchema: z.object({ celsius: z.number() }) },
    () => ({ content: [], structuredContent: { celsius: 21.5 } }),
  );
  server.registerTool('cwd', { description: 'Where it runs' }, () => ({
    content: [{ type: 'text', text: process.cwd() }],
  }));
  server.registerTool(
    'env',
    { description: 'A variable', inputSchema: z.object({ name: z.string() }) },
    ({ name }) => ({ content: [{ type: 'text', text: process.env[name] ?? 'not set' }] }),
  );
  server.registerTool(
    'big',
    { description: 'A long text', inputSchema: z.object({ bytes: z.number() }) },
    ({ bytes }) => ({ content: [{ type: 'text', text: 'x'.repeat(bytes) }] }),
  );
}

function addTrouble(server: McpServer): void {
  server.registerTool('fail', { description: 'Fails' }, () => ({
    content: [{ type: 'text', text: 'no such city' }],
    isError: true,
  }));
  server.registerTool('exit', { description: 'Ends its process' }, () => {
    console.error('fatal: ended on request');
    process.exit(3);
  });
  server.registerTool(
    'slow',
    {
      description: 'Reports progress, then writes a file whatever happens to the call',
      inputSchema: z.object({ ms: z.number(), path: z.string() }),
    },
    async ({ ms, path }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, total: 2, message: 'half way' },
        });
      writeFileSync(`${path}.begun`, '');
      await delay(ms);
      writeFileSync(path, 'done');
      return { content: [{ type: 'text', text: 'slept' }] };
    },
  );
  server.registerTool('garbage', { description: 'Prints on standard output' }, () => {
    process.stdout.write('Listening on port 80\n{"half":\n\u{1F600}\n');
    return { content: [{ type: 'text', text: 'printed' }] };
  });
}

function addQuestions(server: McpServer): void {
  server.registerTool('ask_name', { description: 'Asks for a name' }, async (context) => {
    const answer = await context.mcpReq.elicitInput({
      mode: 'form',
      message: 'What is your name?',
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
      },
    });
    const text =
      answer.action === 'accept' ? `hello ${String(answer.content?.['name'])}` : answer.action;
    return { content: [{ type: 'text', text }] };
  });
  server.registerTool('ask_page', { description: 'Sends to a page' }, async (context) => {
    const asked = { mode: 'url', message: 'Pay here', url: PAGE, elicitationId: 'page-1' } as const;
    const { action } = await context.mcpReq.elicitInput(asked);
    return { content: [{ type: 'text', text: action }] };
  });
  server.registerTool('page_done', { description: 'Says that the page is done' }, async () => {
    await server.server.notification({
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'page-1' },
    });
    return { content: [] };
  });
  server.registerTool('roots', { description: 'The roots' }, async () => {
    const { roots } = await server.server.listRoots();
    return { content: [{ type: 'text', text: roots.map(({ uri }) => uri).join('\n') }] };
  });
  server.registerTool('sample', { description: 'Asks the model of the client' }, async () => {
    const text = await server.server.createMessage({ messages: [], maxTokens: 1 }).then(
      () => 'sampled',
      () => 'refused',
    );
    return { content: [{ type: 'text', text }] };
  });
}

function addListChanges(server: McpServer): void {
  let extra: RegisteredTool | null = null;
  server.registerTool('toggle', { description: 'Adds or removes the tool extra' }, () => {
    if (extra === null)
      extra = server.registerTool('extra', { description: 'Comes and goes' }, () => ({
        content: [{ type: 'text', text: 'extra!' }],
      }));
    else {
      extra.remove();
      extra = null;
    }
    return { content: [{ type: 'text', text: extra === null ? 'removed' : 'added' }] };
  });
}

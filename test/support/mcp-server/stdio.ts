// A stdio server for tests. Arguments: --tools N adds N tools; --hang never answers; --modern takes
// nothing older than revision 2026-07-28; --noise prints before it starts;
// --pid FILE writes its process id; --ready FILE writes it once a client
// is there; --child FILE starts a child that writes its id there and outlives its parent.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createToolbox } from './toolbox.ts';

const { values } = parseArgs({
  options: {
    tools: { type: 'string' },
    hang: { type: 'boolean' },
    modern: { type: 'boolean' },
    noise: { type: 'boolean' },
    pid: { type: 'string' },
    child: { type: 'string' },
    ready: { type: 'string' },
  },
});

if (values.pid !== undefined) writeFileSync(values.pid, String(process.pid));
if (values.noise) process.stdout.write('Welcome!\nstarting...\n');
if (values.child !== undefined) {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  writeFileSync(values.child, String(child.pid));
}
if (values.hang) {
  process.stdin.resume();
  setInterval(() => undefined, 1_000);
} else if (values.modern) {
  serveStdio(() => createToolbox(), { legacy: 'reject' });
} else {
  const server = createToolbox();
  const { ready } = values;
  if (ready !== undefined) server.server.oninitialized = () => writeFileSync(ready, '');
  for (let index = 0; index < Number(values.tools ?? 0); index += 1)
    server.registerTool(`tool_${index}`, { description: `Number ${index}` }, () => ({
      content: [{ type: 'text', text: `I am ${index}` }],
    }));
  await server.connect(new StdioServerTransport());
}

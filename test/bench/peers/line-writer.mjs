// The sending end of a raw pipe: writes a line N times and ends. Arguments: N, the line, and how many lines a write
// takes (1: each by itself, as an agent sends what it just got).
import { once } from 'node:events';

const [count, line, perWrite] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const { stdout } = process;
await once(process.stdin, 'data');
for (let sent = 0; sent < count; sent += perWrite) {
  const text = `${line}\n`.repeat(Math.min(perWrite, count - sent));
  if (!stdout.write(text)) await once(stdout, 'drain');
}
process.stdin.destroy();

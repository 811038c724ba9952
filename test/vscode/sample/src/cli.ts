import { formatTea } from './format.ts';
import { findTea, teas } from './teas.ts';

const [name] = process.argv.slice(2);

if (name === undefined || name === '--list') {
  for (const tea of teas) process.stdout.write(`${formatTea(tea)}\n`);
} else {
  const tea = findTea(name);
  process.stdout.write(tea ? `${formatTea(tea)}\n` : `No tea is called "${name}".\n`);
  process.exitCode = tea ? 0 : 1;
}

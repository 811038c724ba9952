import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/**
 * How often a text occurs in the files of a folder, upper or lower case. Read by another process: a process that
 * closes a file of a database it has open loses its locks on it.
 */
export function occurrences(folder: string, text: string): number {
  const script = `
    const { readdirSync, readFileSync } = require('node:fs');
    const [folder, text] = process.argv.slice(1);
    let count = 0;
    for (const name of readdirSync(folder)) {
      const content = readFileSync(folder + '/' + name, 'latin1').toLowerCase();
      count += content.split(text.toLowerCase()).length - 1;
    }
    console.log(count);`;
  return Number(execFileSync(process.execPath, ['-e', script, folder, text]));
}

/** The names of the files in a folder, sorted. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

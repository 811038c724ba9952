import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../vscode/driver/until.ts';
import { usePilothouse } from './support/pilothouse.ts';

describe('the row of a session', () => {
  const { pilothouse } = usePilothouse();
  const { chat } = pilothouse;

  afterEach(() => pilothouse.calm());

  it('is selected while the chat shows it, and its menu holds what makes sense', async () => {
    await pilothouse.newCodeSession();
    await chat.send('run sleep 300', 'finish with the step was stopped');
    await chat.waitForActivity('Working');
    const sessions = await pilothouse.sessions();
    await sessions.waitFor(/sleep 300/, ({ selected }) => selected);

    await pilothouse.newSession();
    await chat.send('finish with the other');
    await chat.waitForReply('the other');
    await sessions.waitFor(/the other/, ({ selected }) => selected);
    const first = await sessions.waitFor(/sleep 300/);
    expect(first.selected).toBe(false);

    // Rows move between the groups as turns end.
    await sessions.waitFor('Today');
    await until(
      'the end of the step',
      async () => {
        // A click that met a row as it was laid anew went nowhere: a person clicks again.
        await sessions.menu(/sleep 300/, 'Stop Tool Call').catch(() => undefined);
        const isOver = async () =>
          !(await sessions.rows()).some(({ label }) => label === 'Running');
        return until('', isOver, { milliseconds: 6_000 }).catch(() => false);
      },
      { milliseconds: 60_000 },
    );
    await sessions.click(/sleep 300/);
    await chat.waitForReply('the step was stopped');
    await sessions.waitFor(/sleep 300/, ({ selected }) => selected);
  });
});

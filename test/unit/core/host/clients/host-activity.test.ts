import { expect, it } from 'vitest';
import { HostActivity } from '../../../../../src/core/host/clients/host-activity.ts';
import { MemoryClient } from '../../../../support/clients/memory-client.ts';

it('counts sessions, those at work, and each client once; tells of changes until it is disposed', () => {
  const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
  const sessions = [
    { isAtWork: true, clients: { all: [a, b] } },
    { isAtWork: false, clients: { all: [a] } },
    { isAtWork: true, clients: { all: [] } },
  ];
  const activity = new HostActivity(
    () => sessions,
    () => undefined,
  );
  let told = 0;
  activity.onDidChange(() => {
    told += 1;
  });
  expect(activity.now()).toEqual({ sessions: 3, running: 2, clients: 2 });
  sessions.length = 0;
  activity.changed();
  expect([activity.now(), told]).toEqual([{ sessions: 0, running: 0, clients: 0 }, 1]);
  activity.dispose();
  activity.changed();
  expect(told).toBe(1);
});

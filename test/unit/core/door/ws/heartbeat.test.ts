import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BeatSocket, Heartbeat } from '../../../../../src/core/door/ws/heartbeat.ts';

class Peer extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  bufferedAmount = 0;
  pings = 0;

  ping(): void {
    this.pings += 1;
  }
}

function rig() {
  const peer = new Peer();
  let deaths = 0;
  // What the heartbeat asks of a socket is all there.
  const socket = peer as unknown as BeatSocket;
  const beat = new Heartbeat(socket, { pingMs: 100, pongMs: 10 }, () => {
    deaths += 1;
  });
  return { peer, beat, deaths: () => deaths };
}

describe('a heartbeat', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('goes on while the peer answers, and ends once when it does not', () => {
    const { peer, deaths } = rig();
    for (let count = 1; count <= 3; count += 1) {
      vi.advanceTimersByTime(100);
      expect(peer.pings).toBe(count);
      vi.advanceTimersByTime(9);
      peer.emit('pong');
    }
    vi.advanceTimersByTime(109);
    expect(deaths()).toBe(0);
    vi.advanceTimersByTime(1_000);
    expect(deaths()).toBe(1);
  });

  it('takes whatever comes for a sign of life, and what is taken too', () => {
    const { peer, deaths } = rig();
    vi.advanceTimersByTime(99);
    peer.emit('message');
    vi.advanceTimersByTime(99);
    expect(peer.pings).toBe(0);
    peer.bufferedAmount = 50;
    vi.advanceTimersByTime(1);
    peer.bufferedAmount = 40;
    vi.advanceTimersByTime(10);
    expect(deaths()).toBe(0);
    vi.advanceTimersByTime(10);
    expect(deaths()).toBe(1);
  });

  it('expects nothing of a peer that this side does not read', () => {
    const { peer, deaths } = rig();
    peer.isPaused = true;
    vi.advanceTimersByTime(1_000);
    expect(deaths()).toBe(0);
    peer.isPaused = false;
    vi.advanceTimersByTime(20);
    expect(deaths()).toBe(1);
  });

  it('asks at once when somebody wants to know', async () => {
    const { peer, beat, deaths } = rig();
    const alive = beat.probe();
    expect(peer.pings).toBe(1);
    peer.emit('pong');
    expect(await alive).toBe(true);
    const dead = beat.probe();
    vi.advanceTimersByTime(10);
    expect(await dead).toBe(false);
    expect(deaths()).toBe(1);
    expect(await beat.probe()).toBe(false);
  });
});

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatGate } from '../../../../src/protocol/chat.ts';

/** How long a card stands in its place before it can be answered, in milliseconds: longer than a double click. */
const SETTLE_MS = 700;

/**
 * Says of each gate whether its card has stood in its place long enough to be answered. The second half of a double
 * click on one card must never answer the card that came in its place.
 */
export function useSettledGates(gates: readonly ChatGate[]): (gateId: string) => boolean {
  const started = useRef<ReadonlySet<string>>(new Set());
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set());
  const places = gates.map(({ gateId }, position) => placeOf(gateId, position));
  useEffect(() => {
    for (const place of places) {
      if (started.current.has(place)) continue;
      setTimeout(() => setSettled((before) => new Set(before).add(place)), SETTLE_MS);
    }
    started.current = new Set(places);
    setSettled((before) => new Set(places.filter((place) => before.has(place))));
  }, [places.join('\n')]);
  return (gateId) => {
    const position = gates.findIndex((gate) => gate.gateId === gateId);
    return position >= 0 && settled.has(placeOf(gateId, position));
  };
}

function placeOf(gateId: string, position: number): string {
  return `${position} ${gateId}`;
}

import { ENGLISH } from '../strings.ts';
import type { ViewState } from './view-state.ts';

/** What is drawn before the extension has said anything. */
export const INITIAL_STATE: ViewState = {
  ready: false,
  resets: 0,
  status: {
    activity: 'starting',
    sessionId: null,
    title: '',
    cwd: '',
    options: [],
    commands: [],
    usage: null,
    pending: [],
    nextTurns: { paused: null, items: [] },
    runningSend: 'steer',
    staged: null,
    canRedo: false,
    queued: [],
    rehearsal: false,
  },
  items: [],
  index: new Map(),
  hasBefore: false,
  loadingBefore: false,
  delegates: new Map(),
  gates: [],
  answers: new Map(),
  stop: null,
  send: { pending: null, seq: 0, done: null, error: null },
  completions: null,
  compose: null,
  reveal: null,
  gap: false,
  strings: ENGLISH,
};

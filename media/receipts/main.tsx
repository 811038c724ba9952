import '../chat/styles/page.css';
import '../chat/styles/controls.css';
import './receipts.css';
import { render } from 'preact';
import type { FromReceipts } from '../../src/protocol/receipts-view.ts';
import { Page } from './page.tsx';
import { parseToReceipts } from './parse.ts';
import { INITIAL, reduce } from './state.ts';

type Api = {
  readonly postMessage: (message: FromReceipts) => void;
};

declare function acquireVsCodeApi(): Api;

const api = acquireVsCodeApi();
const root = document.getElementById('root');
const post = (message: FromReceipts): void => api.postMessage(message);
let view = INITIAL;
let drawn = false;

function draw(): void {
  drawn = false;
  if (root !== null) render(<Page view={view} post={post} />, root);
}

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = parseToReceipts(event.data);
  if (message === null) return;
  view = reduce(view, message);
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(draw);
});
post({ type: 'ready' });

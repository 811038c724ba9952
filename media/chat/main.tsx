import './styles/page.css';
import './styles/controls.css';
import './styles/menu.css';
import './styles/log.css';
import './styles/tools.css';
import './styles/markdown.css';
import './styles/gates.css';
import './styles/composer.css';
import './styles/waiting.css';
import './styles/durable.css';
import './styles/delegates.css';
import { render } from 'preact';
import { createDrafts } from './bridge/drafts.ts';
import { createInbox } from './bridge/inbox.ts';
import { parseMessage } from './bridge/parse-message.ts';
import { connect } from './bridge/vscode-api.ts';
import { App } from './components/app.tsx';
import { INITIAL_STATE } from './state/initial.ts';
import { createStore } from './state/store.ts';

const api = connect();
const drafts = createDrafts(api);
const store = createStore(INITIAL_STATE);

let resetAwaited = true;

const receive = createInbox((messages) => {
  store.dispatch(...messages);
  if (messages.some(({ type }) => type === 'reset')) resetAwaited = false;
  const { ready, gap, status } = store.get();
  if (ready) drafts.setLastSession(status.sessionId);
  if (!gap || resetAwaited) return;
  resetAwaited = true;
  api.postMessage({ type: 'ready', sessionId: status.sessionId });
});

window.addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = parseMessage(event.data);
  if (message !== null) receive(message);
});
window.addEventListener('pagehide', drafts.flush);
document.addEventListener('visibilitychange', drafts.flush);

const tellFocus = (): void => api.postMessage({ type: 'focus', focused: document.hasFocus() });
window.addEventListener('focus', tellFocus);
window.addEventListener('blur', tellFocus);

const root = document.getElementById('root');
if (root !== null) {
  const services = { store, drafts, post: api.postMessage };
  render(<App services={services} />, root);
}
api.postMessage({ type: 'ready', sessionId: drafts.lastSession() });
if (document.hasFocus()) tellFocus();

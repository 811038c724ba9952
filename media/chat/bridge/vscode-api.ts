import type { FromChat } from '../../../src/protocol/chat.ts';

/** What VS Code gives a webview. */
export type WebviewApi = {
  readonly postMessage: (message: FromChat) => void;
  readonly getState: () => unknown;
  readonly setState: (state: unknown) => void;
};

declare function acquireVsCodeApi(): WebviewApi;

/** The page's one connection to the extension; may be called once. */
export function connect(): WebviewApi {
  return acquireVsCodeApi();
}

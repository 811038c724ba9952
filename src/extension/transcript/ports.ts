import type { LogOutputChannel } from 'vscode';
import type { Event } from '../../base/emitter.ts';
import type { JsonObject } from '../../base/json.ts';

/** What the transcript's language client needs; its bundle shares nothing else with the extension. */
export type TranscriptPorts = {
  /** Names the host. */
  readonly hostId: string;
  /** The name of a host of another machine, whose files are not opened here; null for every other. */
  readonly elsewhere: string | null;
  /** What the paths of its documents begin with, which its server does not know of; empty for the window's own. */
  readonly prefix: string;
  /** Resolves when the agent process is there. */
  readonly connect: () => Promise<void>;
  /** Hands a message to the server; rejects if the process is gone. */
  readonly send: (message: JsonObject) => Promise<void>;
  readonly onMessage: Event<JsonObject>;
  readonly onDidConnect: Event<void>;
  readonly onDidDisconnect: Event<void>;
  /** The lenses' titles in the person's language, by command. */
  readonly lensTitles: Readonly<Record<string, string>>;
  readonly log: LogOutputChannel;
};

/** The running client. */
export interface TranscriptClient {
  /** The text of a transcript; starts the client if need be. */
  content(uri: string): Promise<string>;
  /** Ends the conversation with the server; never rejects. */
  stop(): Promise<void>;
}

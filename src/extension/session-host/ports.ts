import type { AgentProgram } from '../core/agent-program.ts';
import type { Host, Hosts } from '../hosts/hosts.ts';
import type { SessionHub } from '../sessions/session-hub.ts';

/** What the rooms about the process that sessions live in work with. */
export type SessionHostPorts = {
  readonly hub: SessionHub;
  readonly hosts: Hosts;
  /** The version of this extension. */
  readonly version: string;
  /** How agent-core is run on the data folder of a host of this machine. */
  readonly program: (host: Host) => AgentProgram;
  /** The output channel of this window. */
  readonly showChannel: () => void;
  readonly log: (message: string) => void;
};

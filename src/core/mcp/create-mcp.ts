import { messageOf } from '../../base/errors.ts';
import type { ResourceFactory } from '../host/session-resources.ts';
import { LateMcpTools } from './late-mcp-tools.ts';
import type { McpRoom, McpRoomOptions } from './mcp-room.ts';

/** The MCP room, for all sessions of a host. */
export type Mcp = {
  readonly externalTools: ResourceFactory['externalTools'];
  /** Kills every server that this process started, at once; for the very end of this process. */
  killAll(): void;
};

/** Opens the MCP room. Nothing is loaded or started before a session names a server. */
export function createMcp(options: McpRoomOptions): Mcp {
  let room: McpRoom | null = null;
  let opening: Promise<McpRoom> | null = null;
  const open = async (): Promise<McpRoom> => {
    const { McpRoom } = await import('./mcp-room.ts');
    room = new McpRoom(options);
    return room;
  };
  return {
    externalTools: (sessionId, workspace, servers) =>
      new LateMcpTools(async (first) => {
        try {
          opening ??= open();
          return (await opening).openTools(sessionId, workspace, first);
        } catch (failure) {
          options.log.error('MCP servers can not be used; sessions go on without them', {
            error: messageOf(failure),
          });
          return null;
        }
      }, servers),
    killAll: () => room?.killAll(),
  };
}

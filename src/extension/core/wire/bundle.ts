// The JSON-RPC library takes its timers from here.
import 'vscode-jsonrpc/node';
import { isObject } from '../../../base/json.ts';
import { createRpcPeer } from '../../../protocol/transport/rpc-peer.ts';
import type { RpcPeer } from '../../../protocol/transport/rpc-types.ts';
import { createStreamPort } from '../../../protocol/transport/stream-port.ts';
import type { AgentProcess } from '../agent-process.ts';
import type { ClientSide } from '../connection.ts';

/*
 * JSON-RPC as a file of its own: a window needs it once it starts agent-core, which takes longer to come up than this
 * takes to load; the main file is parsed whole at activation.
 */

/** A peer for a process, to be started by the caller. `ended` is called when the process sends no more. */
export function openPeer(process: AgentProcess, client: ClientSide, ended: () => void): RpcPeer {
  const report = (message: string, details?: object): void =>
    client.onProblem(details === undefined ? message : `${message} ${JSON.stringify(details)}`);
  const port = createStreamPort(process.stdout, process.stdin, {
    onError: (error) => client.onProblem(error.message),
  });
  return createRpcPeer(
    port,
    {
      request: async ({ method, params, signal }) => {
        const result = await client.onRequest(method, params, signal);
        return { result: isObject(result) ? result : {} };
      },
      notification: client.onNotification,
      ended,
    },
    { now: () => Date.now(), log: { warn: report, error: report }, answersGarbage: false },
  );
}

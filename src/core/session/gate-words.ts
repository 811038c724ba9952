import type { JsonObject } from '../../base/json.ts';
import type {
  ElicitationSchema,
  PermissionOption,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '../../protocol/acp.ts';
import type { ToolCallId } from './words.ts';

/** What a gate asks of a person. */
export type GateRequest =
  | {
      readonly kind: 'permission';
      readonly toolCallId: ToolCallId;
      readonly tool: string;
      readonly title: string;
      readonly toolKind: ToolKind;
      readonly input: JsonObject;
      readonly locations: readonly ToolCallLocation[];
      readonly content: readonly ToolCallContent[];
      readonly reason: string;
      /** What it is made of, for example the parts of a compound command. */
      readonly details: readonly string[];
      readonly options: readonly PermissionOption[];
    }
  | {
      readonly kind: 'ask';
      readonly toolCallId: ToolCallId;
      readonly message: string;
      readonly schema: ElicitationSchema;
    }
  | {
      readonly kind: 'auth';
      /** What needs a sign-in: a model source or an MCP server, by name. */
      readonly target: string;
      readonly targetKind: 'model' | 'mcp';
      readonly message: string;
      /** Where to sign in, when it is done in a browser. */
      readonly url?: string;
      /** It is answered by itself once an editor with language models is connected; nobody has to do it here. */
      readonly waitsFor?: 'editor';
    };

/** How a gate was answered. */
export type GateAnswer =
  | { readonly kind: 'selected'; readonly optionId: string; readonly note?: string }
  | { readonly kind: 'accepted'; readonly content: JsonObject }
  /** `reason` is for the model, where the refusal was not a person's. */
  | { readonly kind: 'declined'; readonly reason?: string }
  | {
      readonly kind: 'cancelled';
      readonly reason:
        | 'turn_cancelled'
        | 'interrupted'
        | 'call_cancelled'
        | 'client_gone'
        | 'session_closed'
        | 'restart';
    };

import type { JsonObject } from '../base/json.ts';

export type EditorModel = {
  vendor: string;
  family: string;
  id: string;
  name: string;
  maxInputTokens: number;
  images: boolean;
};

export type EditorPart =
  | { type: 'text'; text: string }
  | { type: 'tool_call'; callId: string; name: string; input: JsonObject };

export type EditorGenerateParams = {
  requestId: string;
  modelId: string;
  system: string;
  messages: readonly EditorMessage[];
  tools: readonly { name: string; description: string; inputSchema: JsonObject }[];
};

export type EditorMessage =
  | { role: 'user'; parts: readonly EditorInput[] }
  | {
      role: 'assistant';
      text: string;
      calls: readonly { callId: string; name: string; input: JsonObject }[];
    }
  | { role: 'tool'; results: readonly { callId: string; parts: readonly EditorInput[] }[] };

export type EditorInput =
  | { type: 'text'; text: string }
  | { type: 'image'; mimeType: string; data: string };

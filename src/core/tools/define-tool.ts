import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import type { JsonObject, JsonSchema } from '../../base/json.ts';
import type { ToolKind } from '../../protocol/acp.ts';
import type {
  PrepareContext,
  PreparedCall,
  PrepareFailure,
  Tool,
  ToolContext,
  ToolOutcome,
} from '../session/tool.ts';
import type { ToolName } from '../session/tool-names.ts';
import { failed } from './outcome.ts';

/** A tool described by the schema of its input, from which the model's JSON Schema is made. */
export type ToolSpec<Input> = {
  readonly name: ToolName;
  readonly description: string;
  readonly kind: ToolKind;
  readonly readOnly: boolean;
  readonly input: z.ZodType<Input>;
  prepare(input: Input, context: PrepareContext): Promise<PreparedCall | PrepareFailure>;
};

/** Raised by a tool's own code for a failure that the model should read as it is. */
export class ToolError extends CodedError<'tool.failed'> {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('tool.failed', message, options);
  }
}

/**
 * Makes a `Tool`: checks the input against the schema and turns every `CodedError` and file-system error into a
 * failure that the model reads. Other exceptions are faults of this program and pass through.
 */
export function defineTool<Input>(spec: ToolSpec<Input>): Tool {
  const inputSchema = toJsonSchema(spec.input);
  return {
    definition: { name: spec.name, description: spec.description, inputSchema },
    kind: spec.kind,
    readOnly: spec.readOnly,
    async prepare(input, context) {
      const parsed = spec.input.safeParse(input);
      if (!parsed.success)
        return {
          error: `The input of ${spec.name} is not valid:\n${z.prettifyError(parsed.error)}`,
        };
      try {
        const prepared = await spec.prepare(parsed.data, context);
        return 'error' in prepared ? prepared : guardRun(prepared);
      } catch (error) {
        return { error: readable(error) };
      }
    },
  };
}

function guardRun(call: PreparedCall): PreparedCall {
  return {
    accesses: call.accesses,
    preview: call.preview,
    async run(context: ToolContext): Promise<ToolOutcome> {
      try {
        return await call.run(context);
      } catch (error) {
        if (context.signal.aborted) return failed('Stopped before it was done.');
        return failed(readable(error));
      }
    },
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return z.record(z.string(), z.json()).parse(rest) satisfies JsonObject;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'permission was denied by the operating system',
  EPERM: 'the operating system does not permit it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ELOOP: 'it is a symbolic link, or there are too many of them',
  EMFILE: 'too many files are open; try again',
  ENAMETOOLONG: 'the name is too long',
};

/** The text for the model; rethrows what is neither ours nor the operating system's. */
function readable(error: unknown): string {
  if (error instanceof CodedError) return error.message;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const why = SYSTEM_ERRORS[error.code];
    const path = 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
    return `${path}${why ?? error.message} (${error.code}).`;
  }
  throw error;
}

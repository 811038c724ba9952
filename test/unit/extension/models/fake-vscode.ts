/** The classes of the editor's API that the bridge touches, as plain data. */
export class LanguageModelTextPart {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}

export class LanguageModelToolCallPart {
  readonly callId: string;
  readonly name: string;
  readonly input: object;
  constructor(callId: string, name: string, input: object) {
    this.callId = callId;
    this.name = name;
    this.input = input;
  }
}

export class LanguageModelToolResultPart {
  readonly callId: string;
  readonly content: unknown[];
  constructor(callId: string, content: unknown[]) {
    this.callId = callId;
    this.content = content;
  }
}

export class LanguageModelDataPart {
  readonly mimeType: string;
  readonly data: Uint8Array;
  constructor(data: Uint8Array, mimeType: string) {
    this.data = data;
    this.mimeType = mimeType;
  }
  static image(data: Uint8Array, mimeType: string): LanguageModelDataPart {
    return new LanguageModelDataPart(data, mimeType);
  }
}

export const LanguageModelChatMessage = {
  User: (content: unknown) => ({ role: 'user', content }),
  Assistant: (content: unknown) => ({ role: 'assistant', content }),
};

export class LanguageModelError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
  static NotFound(message: string): LanguageModelError {
    return new LanguageModelError('NotFound', message);
  }
  static Blocked(message: string): LanguageModelError {
    return new LanguageModelError('Blocked', message);
  }
}

export class CancellationTokenSource {
  readonly listeners: (() => void)[] = [];
  readonly token = {
    isCancellationRequested: false,
    onCancellationRequested: (listener: () => void) => this.listeners.push(listener),
  };
  cancel(): void {
    this.token.isCancellationRequested = true;
    for (const listener of this.listeners) listener();
  }
  dispose(): void {
    this.listeners.length = 0;
  }
}

/** Sends what the test says; `changed` fires the editor's event. */
export class FakeLm {
  models: object[] = [];
  readonly listeners: (() => void)[] = [];
  onDidChangeChatModels = (listener: () => void) => {
    this.listeners.push(listener);
    return { dispose: () => this.listeners.splice(this.listeners.indexOf(listener), 1) };
  };
  selectChatModels = async (selector: { id?: string }) =>
    this.models.filter(
      (model) => selector.id === undefined || Reflect.get(model, 'id') === selector.id,
    );
}

export const lm = new FakeLm();

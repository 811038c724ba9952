import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { McpError } from '../errors.ts';
import type { Login } from './login-shape.ts';

/** Where a flow reads and keeps what it learns. */
export type LoginCell = {
  readonly login: () => Login;
  readonly save: (login: Login) => Promise<void>;
};

/** What the library needs to refresh tokens without a person: it ends where a person would be needed. */
export class RefreshFlow implements OAuthClientProvider {
  protected readonly cell: LoginCell;
  readonly redirectUrl: string;
  #verifier: string | null = null;
  #discovery: OAuthDiscoveryState | undefined;

  constructor(cell: LoginCell, redirectUrl: string) {
    this.cell = cell;
    this.redirectUrl = redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Pilothouse',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.cell.login().client as StoredOAuthClientInformation | undefined;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.cell.login().tokens as StoredOAuthTokens | undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.cell.save({ ...this.cell.login(), tokens: { ...tokens } });
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    if (this.#verifier === null)
      throw new McpError('mcp.login_failed', 'The login was not begun here.');
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  redirectToAuthorization(_url: URL): void {
    throw new McpError('mcp.login_needed', 'It wants you to sign in again.');
  }

  async invalidateCredentials(
    scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery',
  ): Promise<void> {
    if (scope === 'verifier' || scope === 'all') this.#verifier = null;
    if (scope === 'discovery' || scope === 'all') this.#discovery = undefined;
    const { client, tokens, ...rest } = this.cell.login();
    const keepsClient = client !== undefined && (scope === 'tokens' || scope === 'verifier');
    const keepsTokens = tokens !== undefined && (scope === 'client' || scope === 'verifier');
    if (scope === 'discovery') return;
    await this.cell.save({
      ...rest,
      ...(keepsClient ? { client } : {}),
      ...(keepsTokens ? { tokens } : {}),
    });
  }
}

/** A login with a person in front of a browser: may register a client, and holds the address to open. */
export class LoginFlow extends RefreshFlow {
  readonly #state: string;
  #authorizationUrl: URL | null = null;

  constructor(cell: LoginCell, redirectUrl: string, state: string) {
    super(cell, redirectUrl);
    this.#state = state;
  }

  /** The page to open; null until the library asked for it. */
  get authorizationUrl(): URL | null {
    return this.#authorizationUrl;
  }

  state(): string {
    return this.#state;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.cell.save({
      ...this.cell.login(),
      client: { ...client },
      redirectUrl: this.redirectUrl,
    });
  }

  override redirectToAuthorization(url: URL): void {
    this.#authorizationUrl = url;
  }
}

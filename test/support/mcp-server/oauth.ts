import { createHash, randomUUID } from 'node:crypto';
import type { WebHandler } from './web-server.ts';

type Code = {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
  readonly scope: string;
};

/**
 * An authorization server that lets everybody in, and a guard for the resource it protects: RFC 9728, 8414, 7591,
 * OAuth 2.1 with PKCE, rotating refresh tokens. What it saw can be read.
 */
export class FakeAuthorization {
  readonly registered: string[] = [];
  readonly refreshed: string[] = [];
  readonly #codes = new Map<string, Code>();
  /** Access tokens with their scopes. */
  readonly #access = new Map<string, string>();
  readonly #refresh = new Set<string>();
  readonly #inner: WebHandler;
  /** A scope that every call of a tool needs besides a login. */
  callScope: string | null = null;
  /** Answers the login page with an error instead of a code. */
  denies = false;

  constructor(inner: WebHandler) {
    this.#inner = inner;
  }

  /** All tokens that were ever handed out. */
  readonly issued: string[] = [];

  /** Makes the access tokens invalid; refresh tokens stay good unless `all`. */
  expire(all = false): void {
    this.#access.clear();
    if (all) this.#refresh.clear();
  }

  readonly handler: WebHandler = async (request) => {
    const url = new URL(request.url);
    const { origin } = url;
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
      case '/.well-known/oauth-protected-resource/sse':
        return Response.json({
          resource: origin + url.pathname.slice(url.pathname.lastIndexOf('/')),
          authorization_servers: [origin],
          scopes_supported: ['mcp'],
        });
      case '/.well-known/oauth-authorization-server':
        return Response.json(metadata(origin));
      case '/register':
        return await this.#register(request);
      case '/authorize':
        return this.#authorize(url);
      case '/token':
        return await this.#token(new URLSearchParams(await request.text()));
      default:
        return await this.#guarded(request, url);
    }
  };

  async #guarded(request: Request, url: URL): Promise<Response | null> {
    const token = request.headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
    const metadataUrl = `${url.origin}/.well-known/oauth-protected-resource${url.pathname}`;
    const scopes = this.#access.get(token);
    const isCall =
      request.method === 'POST' && (await request.clone().text()).includes('tools/call');
    if (isCall && scopes !== undefined && !scopes.includes(this.callScope ?? ''))
      return new Response('Forbidden', {
        status: 403,
        headers: {
          'www-authenticate': `Bearer error="insufficient_scope", scope="${this.callScope}", resource_metadata="${metadataUrl}"`,
        },
      });
    if (scopes !== undefined) return await this.#inner(request);
    return new Response('Unauthorized', {
      status: 401,
      headers: { 'www-authenticate': `Bearer resource_metadata="${metadataUrl}", scope="mcp"` },
    });
  }

  async #register(request: Request): Promise<Response> {
    const client = (await request.json()) as { redirect_uris: string[] };
    const [redirectUri = ''] = client.redirect_uris;
    this.registered.push(redirectUri);
    return Response.json({ ...client, client_id: `client:${redirectUri}` }, { status: 201 });
  }

  #authorize(url: URL): Response {
    const redirectUri = url.searchParams.get('redirect_uri') ?? '';
    const clientId = url.searchParams.get('client_id') ?? '';
    if (clientId !== `client:${redirectUri}`)
      return new Response('The client was registered for another address', { status: 400 });
    const back = new URL(redirectUri);
    back.searchParams.set('state', url.searchParams.get('state') ?? '');
    back.searchParams.set('iss', url.origin);
    if (this.denies) back.searchParams.set('error', 'access_denied');
    else {
      const code = randomUUID();
      const challenge = url.searchParams.get('code_challenge') ?? '';
      const scope = url.searchParams.get('scope') ?? '';
      this.#codes.set(code, { challenge, redirectUri, clientId, scope });
      back.searchParams.set('code', code);
    }
    return new Response(null, { status: 302, headers: { location: back.href } });
  }

  async #token(form: URLSearchParams): Promise<Response> {
    const scope =
      form.get('grant_type') === 'refresh_token' ? this.#takesRefresh(form) : this.#takesCode(form);
    if (scope === null) return Response.json({ error: 'invalid_grant' }, { status: 400 });
    const [access, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    this.#access.set(access, scope);
    this.#refresh.add(refresh);
    this.issued.push(access, refresh);
    return Response.json({
      access_token: access,
      refresh_token: refresh,
      token_type: 'Bearer',
      expires_in: 3600,
      scope,
    });
  }

  #takesRefresh(form: URLSearchParams): string | null {
    const token = form.get('refresh_token') ?? '';
    this.refreshed.push(token);
    return this.#refresh.delete(token) ? 'mcp' : null;
  }

  #takesCode(form: URLSearchParams): string | null {
    const code = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    const isGood =
      code !== undefined &&
      code.challenge === verifier.digest('base64url') &&
      code.redirectUri === form.get('redirect_uri') &&
      code.clientId === form.get('client_id');
    return isGood ? code.scope : null;
  }
}

function metadata(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  };
}

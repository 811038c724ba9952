/**
 * True if a URL rule's pattern covers a URL. A pattern is `*`, or a URL whose host may begin with `*.` for all hosts
 * below a domain and whose path may end with `*`; without that star the path must be the same. The scheme, the port
 * and the host are always compared whole; the query counts only where the pattern has one.
 */
export function matchesUrl(pattern: string, written: string): boolean {
  if (pattern === '*') return true;
  const wild = /^(https?:\/\/)\*\.(.*)$/i.exec(pattern);
  const wanted = URL.parse(wild === null ? pattern : `${wild[1]}${wild[2]}`);
  const url = URL.parse(written);
  if (wanted === null || url === null) return false;
  if (wanted.protocol !== url.protocol || wanted.port !== url.port) return false;
  const hostFits =
    wild === null ? url.hostname === wanted.hostname : url.hostname.endsWith(`.${wanted.hostname}`);
  if (!hostFits) return false;
  const place = wanted.pathname + wanted.search;
  if (place.endsWith('*')) return (url.pathname + url.search).startsWith(place.slice(0, -1));
  return wanted.search === ''
    ? url.pathname === wanted.pathname
    : place === url.pathname + url.search;
}

/** The pattern that covers everything on the site of a URL. */
export function wholeSite(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed === null ? null : `${parsed.origin}/*`;
}

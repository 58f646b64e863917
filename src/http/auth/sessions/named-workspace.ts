const PARAMETER = 'workspace=';

/**
 * The workspace that a page shows, by the header that its requests have. A link to a file cannot have a
 * header, so that a GET may name it in the query. Null where the request names none, and the session's own
 * counts.
 */
export function workspaceNamedBy({
  headers,
  method,
  url,
}: Pick<Request, 'headers' | 'method' | 'url'>): string | null {
  const named = headers.get('x-svc-workspace');
  if (named !== null || (method !== 'GET' && method !== 'HEAD')) return named;
  const [, search = ''] = url.split('?', 2);
  const pair = search.split('&').find((each) => each.startsWith(PARAMETER));
  return pair === undefined ? null : pair.slice(PARAMETER.length);
}

/** The query as its endpoint knows it. */
export const withoutWorkspace = (search: string): string =>
  search.includes(PARAMETER)
    ? search
        .split('&')
        .filter((each) => !each.startsWith(PARAMETER))
        .join('&')
    : search;

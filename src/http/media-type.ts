/** What most endpoints take. */
export const JSON_TYPE = 'application/json';

/** RFC 9110, 8.3.1: a type, then parameters whose values may be quoted. */
const MEDIA_TYPE =
  /^([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)((?:[ \t]*;[ \t]*(?:[!#$%&'*+.^_`|~\w-]+=(?:[!#$%&'*+.^_`|~\w-]+|"[^"\\]*"))?)*)[ \t]*$/;
const CHARSET = /;[ \t]*charset=(?:"([^"]*)"|([^;\s]*))/gi;

/** Whether a `Content-Type` header names one of the types, in UTF-8 or without a charset. */
export function isMediaType(header: string, types: readonly string[]): boolean {
  if (types.includes(header)) return true;
  const parts = MEDIA_TYPE.exec(header);
  if (!parts || !types.includes((parts[1] ?? '').toLowerCase())) return false;
  for (const [, quoted, plain] of (parts[2] ?? '').matchAll(CHARSET)) {
    if ((quoted ?? plain ?? '').toLowerCase() !== 'utf-8') return false;
  }
  return true;
}

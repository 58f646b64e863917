export const JSON_TYPE = 'application/json';
/** RFC 7111. */
export const CSV_TYPE = 'text/csv';
/** Bodies of any type, and of none. */
export const ANY_TYPE = '*/*';

// RFC 9110, 8.3.1 and 5.6.6: a type, then parameters, which may be empty and whose values may be quoted.
const TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+/;
const PARAMETER = /[ \t]*(?:;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"([^"\\]*)"))?|$)/y;

/**
 * True when a `Content-Type` header names one of the types, without a charset or with UTF-8. CSV may have any
 * charset, because programs write that of their machine; its bytes decide.
 */
export function isMediaType(header: string, types: readonly string[]): boolean {
  if (types.includes(header)) return true;
  const type = TYPE.exec(header)?.[0] ?? '';
  if (!types.includes(type.toLowerCase())) return false;
  const takesAnyCharset = type.toLowerCase() === CSV_TYPE;
  PARAMETER.lastIndex = type.length;
  while (PARAMETER.lastIndex < header.length) {
    const parameter = PARAMETER.exec(header);
    if (!parameter) return false;
    const [, name = '', plain, quoted = ''] = parameter;
    const isCharset = name.toLowerCase() === 'charset' && !takesAnyCharset;
    if (isCharset && (plain ?? quoted).toLowerCase() !== 'utf-8') return false;
  }
  return true;
}

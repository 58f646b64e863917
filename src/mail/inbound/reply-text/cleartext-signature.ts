const BEGIN = '-----BEGIN PGP SIGNED MESSAGE-----';
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const END = '-----END PGP SIGNATURE-----';

/** Lines such as "Hash: SHA256" between the beginning and the text: one is usual. */
const MOST_FIELDS = 10;

/**
 * A text that is signed with OpenPGP in the text itself (RFC 9580 7), as its author wrote it: without the
 * frame, and without the hyphens before lines that begin with one. What is around the frame, such as the
 * footer of a list, stays.
 */
export function withoutSignatureFrame(text: string): string {
  if (!text.includes(BEGIN)) return text;
  const lines = text.split('\n');
  const begin = lines.findIndex((line) => line.trimEnd() === BEGIN);
  const isBlank = (line: string | undefined): boolean => line?.trim() === '';
  const gap = lines.slice(begin + 1, begin + 2 + MOST_FIELDS).findIndex(isBlank);
  if (begin === -1 || gap === -1) return text;
  const from = begin + 2 + gap;
  const signature = lines.findIndex((line, at) => at >= from && line.trimEnd() === SIGNATURE);
  if (signature === -1) return text;
  const end = lines.findIndex((line, at) => at > signature && line.trimEnd() === END);
  return [
    ...lines.slice(0, begin),
    ...lines.slice(from, signature).map((line) => (line.startsWith('- ') ? line.slice(2) : line)),
    ...(end === -1 ? [] : lines.slice(end + 1)),
  ].join('\n');
}

const CR = 0x0d;
const LF = 0x0a;

/**
 * The message with CRLF for each bare CR and LF: some servers give out the line ends of their files. Null where it has more than `most`
 * octets then. Two passes over the octets: a match for each line end took 8 s for 32 MiB of them (measured).
 */
export function withLineEnds(raw: Buffer, most: number): Buffer | null {
  let bare = 0;
  let isAfterCr = false;
  for (let at = 0; at < raw.length; at++) {
    const octet = raw[at];
    if ((octet === LF) !== isAfterCr) bare += 1;
    isAfterCr = octet === CR;
  }
  if (isAfterCr) bare += 1;
  if (raw.length + bare > most) return null;
  if (bare === 0) return raw;
  const whole = Buffer.allocUnsafe(raw.length + bare);
  let to = 0;
  let before = 0;
  for (let at = 0; at < raw.length; at++) {
    const octet = raw[at] as number;
    if (octet === LF) {
      if (before !== CR) whole[to++] = CR;
    } else if (before === CR) whole[to++] = LF;
    whole[to++] = octet;
    before = octet;
  }
  if (before === CR) whole[to] = LF;
  return whole;
}

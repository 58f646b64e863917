/** Octets that do not get smaller by packing, and are others for each seed. */
export function noise(octets: number, seed: number): Buffer {
  const made = Buffer.alloc(octets);
  let state = seed;
  for (let at = 0; at < octets; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    made[at] = state >>> 16;
  }
  return made;
}

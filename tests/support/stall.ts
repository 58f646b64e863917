/** The longest time, in milliseconds, for which nothing else could happen while that was done. */
export async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const look = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(look, 2);
  await work();
  clearInterval(timer);
  // What stood still up to the end has let no timer run.
  look();
  return longest;
}

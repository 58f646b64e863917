import { killWhileTyping } from '../browser/editing-crash.ts';

// Kills a browser during typing, again and again: at most the last second may be lost.
//
//   bun tests/failure/editing-crash-long.ts [kills]

const MOST_LOST_MS = 1_000;
const kills = Number(process.argv[2] ?? 50);
const lost: number[] = [];
let failures = 0;
await killWhileTyping(kills, ({ typed, known, restored, lostMs }) => {
  lost.push(lostMs);
  const isWrong = lostMs > MOST_LOST_MS || !restored.startsWith(known) || !typed.startsWith(restored);
  if (isWrong) failures++;
  console.log(
    `${lost.length}: ${typed.length} letters, ${restored.length} restored, ${lostMs} ms lost${isWrong ? ': WRONG' : ''}`,
  );
});
const most = Math.max(...lost);
const median = lost.toSorted((a, b) => a - b)[lost.length >> 1] ?? 0;
console.log(`${kills} kills: ${median} ms lost in the median, ${most} ms at the most, ${failures} wrong`);
process.exit(failures > 0 ? 1 : 0);

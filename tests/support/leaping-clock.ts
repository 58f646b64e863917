// Loaded before a thread, this lets two seconds pass between any two looks at the clock: a machine that is
// busy with something else.

const { now } = performance;
let leapt = 0;
performance.now = () => {
  leapt += 2_000;
  return now.call(performance) + leapt;
};

/** A machine that a release is built for. */
export interface Target {
  readonly name: string;
  /** As Bun calls it. */
  readonly bun: Bun.Build.CompileTarget;
  readonly file: 'posthorn' | 'posthorn.exe';
}

const target = (name: string, bun: string, file: Target['file'] = 'posthorn'): Target => ({
  name,
  bun: `bun-${bun}` as Bun.Build.CompileTarget,
  file,
});

/** Every machine, with the C library for Linux: without a suffix it is glibc. */
export const TARGETS: readonly Target[] = [
  target('linux-x64', 'linux-x64'),
  target('linux-arm64', 'linux-arm64'),
  target('linux-x64-musl', 'linux-x64-musl'),
  target('linux-arm64-musl', 'linux-arm64-musl'),
  target('macos-x64', 'darwin-x64'),
  target('macos-arm64', 'darwin-arm64'),
  target('windows-x64', 'windows-x64', 'posthorn.exe'),
];

/** The targets of these names, or all. @throws for a name that is none */
export const targetsOf = (names: readonly string[]): readonly Target[] =>
  names.length === 0
    ? TARGETS
    : names.map((name) => {
        const found = TARGETS.find((one) => one.name === name);
        if (!found)
          throw new Error(
            `There is no target ${name}. Name some of: ${TARGETS.map((one) => one.name).join(', ')}.`,
          );
        return found;
      });

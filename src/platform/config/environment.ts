/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Those of this process. Nothing else in the service looks at them, but config.ts through this. */
export const environmentOfProcess = (): Environment => process.env;

/** True where the environment names no server: asked before anything else of the configuration has been read. */
export const usesEmbedded = (environment = environmentOfProcess()): boolean => !environment.DATABASE_URL;

/**
 * Makes this process and its threads read and write times without a zone as UTC. In the machine's zone a
 * template would show another hour on another machine, and none of its clocks follows the newest rules
 * (src/platform/zones).
 */
export const goByUtc = (): void => {
  process.env.TZ = 'UTC';
};

/** True in the executable, whose embedded files have their own file system. */
export const isExecutable = (): boolean => /^(\/\$bunfs\/|[A-Z]:\\~BUN\\)/.test(import.meta.path);

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Those of this process. Nothing else in the service looks at them, but config.ts through this. */
export const environmentOfProcess = (): Environment => process.env;

/**
 * True where the environment names no server: asked before anything else of the configuration has been read.
 */
export const usesEmbedded = (environment = environmentOfProcess()): boolean => !environment.DATABASE_URL;

/** The variable that the parent of several workers gives them. */
const WORKERS = 'POSTHORN_WORKERS';

/** The environment of one of several workers. */
export const environmentOfWorker = (workers: number): Environment => ({
  ...environmentOfProcess(),
  [WORKERS]: String(workers),
});

/** The number of equal processes that share the memory of this container, unit or machine. */
export const processesHere = (environment = environmentOfProcess()): number =>
  Math.max(1, Number.parseInt(environment[WORKERS] ?? '1', 10) || 1);

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

/** Code that is loaded shortly before it is needed. */
export interface Code<Module> {
  /** Null before it is there. */
  readonly module: Module | null;
  load(): Promise<void>;
  /**
   * Calls `use` once it is there. Where it cannot be loaded, `setState` fails while it is rendered, so that
   * the page shows the error.
   */
  whenLoaded(use: () => void, setState: (fail: () => never) => void): void;
}

/**
 * Code of which the component is rendered as soon as it is there. A lazy component would suspend, and React
 * shows what has suspended only after 300 ms.
 */
export function codeOf<Module>(importIt: () => Promise<Module>): Code<Module> {
  let module: Module | null = null;
  const load = async (): Promise<void> => {
    module ??= await importIt();
  };
  return {
    get module() {
      return module;
    },
    load,
    whenLoaded: (use, setState) =>
      void load().then(use, (error: unknown) =>
        setState(() => {
          throw error;
        }),
      ),
  };
}

import { environmentLimit } from '../../../http/limits/environment-limit.ts';
import type { Module } from '../../../http/module.ts';
import type { ImportCommands } from './commands.ts';
import { importPruner } from './import-pruner.ts';
import { contactImportKind, contactImports } from './kind.ts';
import { importRoutes } from './routes.ts';
import { importWorker } from './worker.ts';

/** An import begins where fewer than `most_open` wait or are under way in its environment. */
const importLimit = environmentLimit({
  of: 'contactImport',
  name: 'import_places',
  most: 'most_open',
  count: 'open_imports',
});

/** Files of contacts that are worked through. */
export const importsModule: Module<ImportCommands> = {
  name: 'imports',
  kinds: [{ kind: contactImportKind, permission: 'contacts:read', resource: 'contacts' }],
  insertRules: [importLimit],
  routes: importRoutes,
  open({ config, database, clock, signer }) {
    return {
      registrations: [contactImports(importWorker({ database, clock, signer }))],
      connect: ({ engine }) => ({
        api: undefined,
        deps: { database, engine },
        duties: [importPruner({ database, clock, config })],
      }),
    };
  },
};

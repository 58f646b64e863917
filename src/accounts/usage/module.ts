import type { Module } from '../../http/module.ts';
import { usageAccountant } from './usage-accountant.ts';

/** Counting of quota units. */
export const usageModule: Module = {
  name: 'usage',
  open: ({ database, clock, shards }) => ({
    connect: () => ({
      api: undefined,
      deps: undefined,
      duties: [usageAccountant({ database, clock, shards })],
    }),
  }),
};

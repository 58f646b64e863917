import { defineModule } from '../module.ts';
import { usageAccountant } from './usage-accountant.ts';

/** Counting of quota units. */
export const usageModule = defineModule<unknown>({
  name: 'usage',
  open: ({ database, clock, shards }) => ({
    connect: () => ({ deps: null, duties: [usageAccountant({ database, clock, shards })] }),
  }),
});

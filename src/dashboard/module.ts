import { defineModule } from '../modules/module.ts';
import { dashboardRoutes } from './routes.ts';

/** The web application, packed into the executable. */
export const dashboardModule = defineModule<unknown>({
  name: 'dashboard',
  pages: dashboardRoutes,
  open: () => ({ connect: () => ({ deps: null }) }),
});

import type { Module } from '../../http/module.ts';
import { dashboardRoutes } from './routes.ts';

/** The web application, packed into the executable. */
export const dashboardModule: Module = {
  name: 'dashboard',
  pages: dashboardRoutes,
  open: () => ({ connect: () => ({ api: undefined, deps: undefined }) }),
};

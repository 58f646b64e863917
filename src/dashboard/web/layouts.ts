import type { Layouts } from '../../drawing/layout.ts';

/** Where everything lies. The build puts the computed places here (scripts/dashboard.ts). */
export const layouts: Layouts = {};

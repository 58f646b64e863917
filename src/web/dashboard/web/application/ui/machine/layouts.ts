import type { Layouts } from '../../../../../../engine/drawing/layout.ts';

/**
 * The layouts are empty in the source: the build puts the computed ones in the place of this module
 * (scripts/dashboard.ts).
 */
export const layouts: Layouts = {};

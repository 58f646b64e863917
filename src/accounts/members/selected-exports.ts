import { type Static, Type } from '@sinclair/typebox';
import type { Permission } from '../../http/auth/permissions.ts';
import { DASHBOARD_API, type Route, route } from '../../http/request/route.ts';
import { literals } from '../../http/request/schema.ts';
import { FORM_LIMIT, OF_MEMBER } from './sign-in/session-routes.ts';

/** The lists whose selected rows are saved as a file, each with the permission that its own export takes. */
const LISTS = {
  contacts: 'contacts:read',
  emails: 'emails:read',
  suppressions: 'contacts:read',
} as const satisfies Readonly<Record<string, Permission>>;

/** The most rows that the dashboard selects. */
export const MOST_ROWS = 1_000;

const Body = Type.Object({
  environment: literals(['live', 'test']),
  rows: Type.Integer({ minimum: 1, maximum: MOST_ROWS }),
});

/**
 * Notes in the audit log that a member saves selected rows as a file. The page has the rows already and
 * writes the file itself, so that no request for them would tell it.
 */
export const selectedExportRoutes = (): readonly Route[] =>
  Object.entries(LISTS).map(([list, permission]) =>
    route(`POST ${DASHBOARD_API}/exports/${list}`, {
      ...OF_MEMBER,
      permission,
      bodyLimit: FORM_LIMIT,
      audit: {
        action: `${list}.exported`,
        isRequired: true,
        details: ({ body }) => ({ selected: true, ...(body as Static<typeof Body>) }),
      },
      summary: `Note that selected ${list} are saved as a file`,
      body: Body,
      handle: async () => null,
    }),
  );

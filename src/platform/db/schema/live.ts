import { customType, integer, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });

/** The live mail that was captured instead of sent. */
export const captured = pgTable('captured', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  emailId: text('email_id').notNull(),
  recipient: text('recipient').notNull(),
  returnPath: text('return_path').notNull(),
  raw: bytes('raw').notNull(),
  size: integer('size'),
});

/** The addresses that get no more live mail from a workspace. */
export const suppressions = pgTable(
  'suppressions',
  {
    workspaceId: text('workspace_id').notNull(),
    addressKey: text('address_key').notNull(),
    address: text('address'),
    reason: text('reason').notNull(),
    emailId: text('email_id'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.addressKey] })],
);

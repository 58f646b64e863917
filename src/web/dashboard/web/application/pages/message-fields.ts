/** Data that a text may name: its label, and its name in Liquid. */
export interface MergeField {
  readonly label: string;
  readonly path: string;
}

/** Fields of one kind. */
export interface MergeFieldGroup {
  readonly title: string;
  readonly fields: readonly MergeField[];
}

export const EMAIL: MergeField = { label: 'Email address', path: 'contact.email' };

/** The fields of every message besides those of the contact. */
export const OTHERS: readonly MergeFieldGroup[] = [
  {
    title: 'Workspace',
    fields: [
      { label: 'Workspace name', path: 'workspace.name' },
      { label: 'Postal address', path: 'workspace.address' },
      { label: 'Website', path: 'workspace.website' },
    ],
  },
  {
    title: 'Links',
    fields: [
      { label: 'Unsubscribe link', path: 'unsubscribeUrl' },
      { label: 'Preferences link', path: 'preferencesUrl' },
    ],
  },
];

import type { ContactImportWarning } from '../../../../../../client/operations.ts';

/** The warnings about a file before its import. */
export const Warnings = ({
  title,
  warnings,
}: {
  readonly title: string;
  readonly warnings: readonly ContactImportWarning[];
}) =>
  warnings.length === 0 ? null : (
    <section
      aria-label={title}
      data-color="waiting"
      className="grid gap-2 rounded-lg border border-(--state)/40 bg-(--state)/5 px-3 py-2"
    >
      <h3 className="state-text font-medium">{title}</h3>
      <ul className="grid gap-2">
        {warnings.map(({ column, header, message }) => (
          <li key={`${column} ${message}`} className="break-words">
            {column !== null && <strong className="font-medium">{header || `Column ${column}`}: </strong>}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );

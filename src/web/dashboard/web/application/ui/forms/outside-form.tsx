import { type ReactNode, Suspense } from 'react';
import { createPortal } from 'react-dom';

/**
 * A dialog of a page with a form around the place that opens it: sending what is inside does not send that
 * form.
 */
export const OutsideForm = ({ children }: { readonly children: ReactNode }) =>
  createPortal(
    <div onSubmit={(event) => event.stopPropagation()}>
      <Suspense>{children}</Suspense>
    </div>,
    document.body,
  );

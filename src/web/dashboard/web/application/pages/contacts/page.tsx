import { lazy } from 'react';
import { Route, Switch } from 'wouter';
import { ContactList } from './list.tsx';

const Detail = lazy(() => import('./detail.tsx'));
const ImportWizard = lazy(() => import('./import/wizard.tsx'));
const Imports = lazy(() => import('./import/imports.tsx'));
const ImportDetail = lazy(() => import('./import/detail.tsx'));

/** Contacts: the list, one of them, and imports. */
export default function Contacts() {
  return (
    <Switch>
      <Route path="/contacts/import">
        <ImportWizard />
      </Route>
      <Route path="/contacts/imports">
        <Imports />
      </Route>
      <Route path="/contacts/imports/:id">{({ id }) => <ImportDetail key={id} id={id} />}</Route>
      <Route path="/contacts/:id">{({ id }) => <Detail key={id} id={id} />}</Route>
      <Route>
        <ContactList />
      </Route>
    </Switch>
  );
}

import { type ComponentType, lazy } from 'react';
import { Route, Switch } from 'wouter';

/** The page of a list, and below its address the pages of its items, whose code is loaded with the first. */
export function listAndItems(
  path: string,
  List: ComponentType,
  load: () => Promise<{ readonly default: ComponentType<{ readonly id: string }> }>,
) {
  const Item = lazy(load);
  return () => (
    <Switch>
      <Route path={`${path}/:id`}>{({ id = '' }) => <Item key={id} id={id} />}</Route>
      <Route>
        <List />
      </Route>
    </Switch>
  );
}

/**
 * A script for a page that notes in `rendered` the part of the page of each component that React renders
 * again. `partOf` is the body of a function from the component's first element, which may be null, to a name.
 * React tells every commit to the hook that its developer tools have; a component was rendered where its
 * fiber is another one than before and has the flag PerformedWork (react-reconciler).
 */
export const watchRenders = (partOf: string): string => `
  globalThis.rendered = [];
  const FUNCTIONS = [0, 11, 15];
  const PERFORMED_WORK = 1;
  const elementOf = (fiber) => {
    for (let each = fiber; each; each = each.child) if (each.stateNode instanceof Element) return each.stateNode;
    return null;
  };
  const partOf = (element) => {${partOf}};
  const follow = (fiber) => {
    const before = fiber.alternate;
    if (!before) return;
    if (FUNCTIONS.includes(fiber.tag) && fiber.flags & PERFORMED_WORK) rendered.push(partOf(elementOf(fiber)));
    if (fiber.child === before.child) return;
    for (let child = fiber.child; child; child = child.sibling) follow(child);
  };
  globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    onCommitFiberRoot: (_, root) => follow(root.current),
    onCommitFiberUnmount: () => {},
    onPostCommitFiberRoot: () => {},
  };
`;

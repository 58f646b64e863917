/** Nodes, rows and designs never change, so each is read once, and what did not change stays the same object. */
export function once<Source extends object, Part>(read: (source: Source) => Part): (source: Source) => Part {
  const known = new WeakMap<Source, Part>();
  return (source) => {
    const part = known.get(source) ?? read(source);
    known.set(source, part);
    return part;
  };
}

/** A vertex as Tarjan's algorithm sees it. */
interface Visited {
  readonly order: number;
  /** The earliest vertex on the stack that can be reached from here. */
  earliest: number;
  isOnStack: boolean;
}

/**
 * The circles of a graph, each as its sorted vertices: the strongly connected components of more than one
 * vertex, and the vertices that point at themselves. Edges to vertices outside the graph are skipped. (Tarjan
 * 1972.)
 */
export function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const visited = new Map<string, Visited>();
  const stack: string[] = [];
  const circles: string[][] = [];

  const visit = (vertex: string, targets: readonly string[]): Visited => {
    const own: Visited = { order: visited.size, earliest: visited.size, isOnStack: true };
    visited.set(vertex, own);
    stack.push(vertex);
    for (const target of targets) {
      const further = graph.get(target);
      if (!further) continue;
      const known = visited.get(target);
      if (!known) own.earliest = Math.min(own.earliest, visit(target, further).earliest);
      else if (known.isOnStack) own.earliest = Math.min(own.earliest, known.order);
    }
    if (own.earliest === own.order) {
      const component = stack.splice(stack.lastIndexOf(vertex));
      for (const member of component) (visited.get(member) as Visited).isOnStack = false;
      if (component.length > 1 || targets.includes(vertex)) circles.push(component.sort());
    }
    return own;
  };

  for (const [vertex, targets] of graph) if (!visited.has(vertex)) visit(vertex, targets);
  return circles;
}

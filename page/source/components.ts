/** What hangs together in a group, and what stands by itself. */

interface Join<End> {
  source: End | "in";
  target: End | "out";
}

export interface Component<End, Wire> {
  members: End[];
  joins: Wire[];
}

/** The components of some boxes; the gates of their group are ends as others are. */
export function componentsOf<End, Wire extends Join<End>>(boxes: End[], wires: Wire[]): Component<End, Wire>[] {
  const parents = new Map<End | string, End | string>();
  const find = (end: End | string): End | string => {
    let at = end;
    for (let next = parents.get(at); next !== undefined; next = parents.get(at)) at = next;
    return at;
  };
  for (const { source, target } of wires) {
    const [one, other] = [find(source), find(target)];
    if (one !== other) parents.set(one, other);
  }
  const found = new Map<End | string, Component<End, Wire>>();
  const of = (end: End | string): Component<End, Wire> => {
    const root = find(end);
    const known = found.get(root) ?? { members: [], joins: [] };
    found.set(root, known);
    return known;
  };
  for (const each of boxes) of(each).members.push(each);
  for (const wire of wires) of(wire.source).joins.push(wire);
  return [...found.values()];
}

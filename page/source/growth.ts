/** What a person has chosen of a recording, for the same one when it has grown. */

import type { Recording } from "./recording";
import type { State } from "./state";

type Kept = Pick<State, "recording" | "section" | "now" | "node">;

export function atItsEnd(recording: Recording, section = recording.shown): Kept {
  return { recording, section, now: countOf(recording, section), node: -1 };
}

/** Who looks at the newest step goes on to do so; a step that was chosen stays. */
export function grown({ recording, section, now, node }: State, next: Recording): Kept {
  const isNewest = section === recording.shown || section >= next.sections.length;
  const ended = atItsEnd(next, isNewest ? next.shown : section);
  const wasWhole = now >= countOf(recording, section);
  return {
    ...ended,
    now: wasWhole ? ended.now : Math.min(now, ended.now),
    node: node < 0 ? -1 : next.nodes.row.indexOf(recording.nodes.row[node]!),
  };
}

function countOf(recording: Recording, section: number): number {
  return recording.nodesOf[section]?.length ?? 0;
}

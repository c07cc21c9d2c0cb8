/** What a person has chosen: which step, which moment, what is open, what is looked at. */

import type { Recording } from "./recording";
import type { ThemeName } from "./theme";

export interface State {
  recording: Recording;
  section: number;
  /** The last node of the section that has run, by its place; the number of nodes where all have. */
  now: number;
  isPlaying: boolean;
  /** The keys of open groups, which are the same in every step. */
  open: Set<string>;
  /** The key of the box that is chosen, and the node of it that is told of; empty and -1 where none is. */
  chosen: string;
  node: number;
  query: string;
  match: number;
  /** What lies on the way from the leaves to the loss is shown, all else is dimmed. */
  showsPath: boolean;
  showsHelp: boolean;
  theme: ThemeName;
}

type Listener = (changed: Set<keyof State>) => void;

export class Store {
  private readonly listeners: Listener[] = [];

  constructor(public state: State) {}

  change(part: Partial<State>): void {
    const names = Object.keys(part) as (keyof State)[];
    const changed = new Set(names.filter((name) => this.state[name] !== part[name]));
    if (!changed.size) return;
    this.state = { ...this.state, ...part };
    for (const listener of this.listeners) listener(changed);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }
}

/** What a view stands in: a document of its own, or a notebook that has other things beside it. */

export interface Setting {
  /** Where its elements go. */
  root: HTMLElement;
  /** Hears the keys that are meant for it. */
  keys: EventTarget;
  /** Whether turning the wheel moves the picture, and not what the view stands in. */
  takesWheel(event: WheelEvent): boolean;
  /** Ends when the view is taken away. */
  signal: AbortSignal;
}

/** What stands behind the `#` of an address: the row that a page stands at, also when a link goes to another one. */

import type { View } from "./view";

export function followFragment(shown: View): void {
  let isArriving = false;

  function arrive(): void {
    const row = /^#(\d+)$/.exec(location.hash)?.[1];
    if (row === undefined) return;
    isArriving = true;
    shown.standAt(Number(row));
    isArriving = false;
  }

  addEventListener("hashchange", () => {
    arrive();
    focus(); // of a frame in a text: the keys of who has followed a link are meant for it
  });
  requestAnimationFrame(arrive); // once it has its place in the window
  shown.store.listen((changed) => {
    // Who has gone on can be led back there by the same link.
    if (changed.has("now") && !isArriving && location.hash) history.replaceState(null, "", "#");
  });
}

/** What a value is like: its statistics, a picture and a histogram. */

import { element } from "./dom";
import { shapeOf } from "./elements";
import { singleValue } from "./looks";
import { short } from "./numbers";
import { facts, titled } from "./panel_parts";
import type { Recording } from "./recording";
import type { ThemeName } from "./theme";
import { histogram, picture } from "./value_pictures";
import { sumBehind, valueOfNode } from "./values";

export function valuePart(recording: Recording, title: string, node: number, theme: ThemeName): HTMLElement | null {
  const told = recording.statistics;
  const place = recording.statisticsOf[node]!;
  const value = valueOfNode(recording, node);
  if (place < 0 && !value) return null;
  const single = singleValue(recording, node);
  if (single !== null) return titled(title, element("p", { class: "single", text: short(single) }));
  return titled(
    title,
    place < 0
      ? null
      : facts([
          ["range", `${short(told.minimum[place])} … ${short(told.maximum[place])}`],
          ["mean ± std", `${short(told.mean[place])} ± ${short(told.std[place])}`],
          ["zeros", share(told.zero[place]!, told.count[place]!)],
          ["NaN", share(told.nan[place]!, told.count[place]!)],
          ["infinite", share(told.inf[place]!, told.count[place]!)],
        ]),
    value ? picture(value, shapeOf(recording, node), theme) : null,
    value ? histogram(value) : null,
    value && !value.isExact
      ? element("p", { class: "muted", text: `a sample of ${value.rows}×${value.columns}` })
      : null,
  );
}

/** What a gradient has grown to at a node that added to it. */
export function sumPart(recording: Recording, title: string, node: number, theme: ThemeName): HTMLElement | null {
  const sum = sumBehind(recording, node);
  if (!sum) return null;
  const isSingle = sum.numbers.length === 1;
  return titled(
    title,
    isSingle
      ? element("p", { class: "single", text: short(sum.numbers[0]) })
      : picture(sum, shapeOf(recording, node), theme),
  );
}

function share(count: number, of: number): string {
  return count ? `${count.toLocaleString("en")} of ${of.toLocaleString("en")} (${short((count / of) * 100)} %)` : "";
}

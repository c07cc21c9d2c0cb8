/** The side panel: all that is known of what is chosen, or of the whole run where nothing is. */

import { type Box, isGroup } from "./boxes";
import { ofGroup } from "./panel_group";
import { ofNode } from "./panel_node";
import { overview } from "./panel_overview";
import type { Guide, Part } from "./panel_parts";
import type { Recording } from "./recording";
import type { ThemeName } from "./theme";

export function panelOf(recording: Recording, of: Box | null, node: number, theme: ThemeName, guide: Guide): Part[] {
  if (!of) return overview(recording, guide);
  return isGroup(of) ? ofGroup(recording, of, guide) : ofNode(recording, of, node < 0 ? of.node : node, theme, guide);
}

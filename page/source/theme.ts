/** Colours: one table for what is drawn and for what CSS lays out. */

const LIGHT = {
  ground: "#f5f6f9",
  group: "#eceff5",
  card: "#ffffff",
  line: "#d3d9e4",
  text: "#1b2233",
  muted: "#69738a",
  forward: "#2f62d9",
  forwardTint: "#e7eefd",
  backward: "#d65a1f",
  backwardTint: "#fdece2",
  update: "#7450c8",
  updateTint: "#efe9fb",
  leaf: "#0c8069",
  leafTint: "#e0f4ee",
  alarm: "#cc2238",
  alarmTint: "#fde5e8",
  edge: "#9aa6bd",
  shadow: "rgba(24, 34, 58, 0.10)",
};

const DARK: Palette = {
  ground: "#11141b",
  group: "#181d27",
  card: "#202633",
  line: "#363f51",
  text: "#e8ecf4",
  muted: "#93a0b8",
  forward: "#82a7ff",
  forwardTint: "#223053",
  backward: "#ff9c66",
  backwardTint: "#42291c",
  update: "#b9a0ff",
  updateTint: "#2d2548",
  leaf: "#5ed6b6",
  leafTint: "#15342d",
  alarm: "#ff7083",
  alarmTint: "#451b23",
  edge: "#5d6a83",
  shadow: "rgba(0, 0, 0, 0.35)",
};

export type Palette = typeof LIGHT;
export type ThemeName = "light" | "dark";

export const PALETTES: Record<ThemeName, Palette> = { light: LIGHT, dark: DARK };
export const FONT = `"Inter", "Segoe UI", system-ui, -apple-system, "Helvetica Neue", "DejaVu Sans", sans-serif`;
export const MONO = `"JetBrains Mono", "SF Mono", Consolas, "DejaVu Sans Mono", monospace`;

/** Lets the rules of CSS see the colours, as `--forward-tint`. */
export function dress(root: HTMLElement, name: ThemeName): void {
  root.dataset.theme = name;
  root.style.colorScheme = name;
  for (const [colour, value] of Object.entries(PALETTES[name])) {
    root.style.setProperty(`--${colour.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, value);
  }
}

const dark = matchMedia("(prefers-color-scheme: dark)");

export function preferred(): ThemeName {
  return dark.matches ? "dark" : "light";
}

/** Tells when a person, or the site that a page stands in, turns to the other theme. */
export function followPreferred(turn: (theme: ThemeName) => void): void {
  dark.addEventListener("change", () => turn(preferred()));
}

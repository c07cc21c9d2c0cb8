/** Numbers as people read them. */

export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return minus(value.toLocaleString("en"));
  if (size >= 1e5 || size < 1e-3)
    return minus(
      value
        .toExponential(2)
        .replace("e+", "e")
        .replace(/\.?0+e/, "e"),
    );
  return minus(String(Number(value.toPrecision(4))));
}

export function duration(nanoseconds: number): string {
  const units: [number, string][] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
  ];
  for (const [size, unit] of units)
    if (nanoseconds >= size) return `${Number((nanoseconds / size).toPrecision(3))} ${unit}`;
  return `${nanoseconds} ns`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}

/** Movements that take a moment, so that the eye can follow. */

const still = matchMedia("(prefers-reduced-motion: reduce)");
const LENGTH = 220;

export interface Motion {
  /** Shares from 0 to 1, one a frame; a new movement ends the one before. */
  run(frame: (share: number) => void): void;
  stop(): void;
}

export function motion(): Motion {
  let number = 0;
  return {
    run(frame) {
      cancelAnimationFrame(number);
      if (still.matches) return frame(1);
      const begin = performance.now();
      const next = (now: number): void => {
        const share = Math.min((now - begin) / LENGTH, 1);
        frame(1 - (1 - share) ** 3);
        if (share < 1) number = requestAnimationFrame(next);
      };
      number = requestAnimationFrame(next);
    },
    stop: () => cancelAnimationFrame(number),
  };
}

/** The groups of what is not the program's own computation. */

export const MAKING = "parameters made";
export const UPDATE = "optimizer";

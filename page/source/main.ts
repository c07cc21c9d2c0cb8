/** The two ways to the view: the page of a file, and the widget of a notebook. */

export { openDocument } from "./document";
export { widget } from "./widget";

/** Elements are made from texts and other elements alone: nothing that anybody sent is ever read as markup. */

type Child = Node | string | null | undefined;

/** An element with a class, which may be empty, and children; those that are null are left out. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children.filter((child) => child != null));
  return element;
}

/** The one element of the page with this id. Throws if there is none of this kind. */
export function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no ${kind.name} with the id ${id}.`);
  return element;
}

/** `#/tree` */

/** The page. */
export function TreePage() {
  return <h1>Tree</h1>
}

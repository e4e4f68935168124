/** `#/blocks` */

/** The page. */
export function BlocksPage() {
  return <h1>Blocks</h1>
}

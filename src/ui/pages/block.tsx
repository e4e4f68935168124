/** `#/block` */

/** The page. */
export function BlockPage() {
  return <h1>Block</h1>
}

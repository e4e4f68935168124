/** A federation as transactions of the parent chain pay to it and come from it. */

/** The scripts. */
export interface PegFederation {
  /** How its script is made, as its cell has it. */
  readonly format: number
  /** Of an output that pays to it; to a script's hash. */
  readonly outputScript: Uint8Array
  /** Its script without emergency keys, and of an output that would pay to that. */
  readonly standardScript: Uint8Array
  readonly standardOutputScript: Uint8Array
}

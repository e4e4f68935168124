/** Which run of the node this is: clients that remember what they saw of a chain ask whether it is still the same. */
import { randomBytes } from 'node:crypto'
import { type Hex, toHex } from '../../encoding/hex.ts'

/** 32 random bytes for each run, and for each new beginning within a run. */
export class Instance {
  #id = newId()

  get id(): Hex {
    return this.#id
  }

  /** The chain began anew. */
  renew(): void {
    this.#id = newId()
  }
}

function newId(): Hex {
  return toHex(randomBytes(32))
}

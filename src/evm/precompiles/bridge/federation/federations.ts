/** Which federation is active, retiring, proposed, by the cells and the height of the block. */
import type { IsActive } from '../../../../chain/activations.ts'
import type { Hex } from '../../../../encoding/hex.ts'
import type { BridgeNetwork } from '../constants/network.ts'
import type { FederationCells } from '../storage/federation-cells.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import type { Cell } from '../storage/store.ts'
import { type Federation, genesisFederation } from './federation.ts'
import { memberAddress } from './members.ts'

/** What a federation and its block are looked at by. */
export interface FederationsParts {
  readonly cells: FederationCells
  readonly network: BridgeNetwork
  readonly isActive: IsActive
  /** Height of the executing block. */
  readonly number: number
}

/** The federations at the executing block. */
export class Federations {
  readonly #cells: FederationCells
  readonly #network: BridgeNetwork
  readonly #isActive: IsActive
  readonly #number: number

  constructor({ cells, network, isActive, number }: FederationsParts) {
    this.#cells = cells
    this.#network = network
    this.#isActive = isActive
    this.#number = number
  }

  /** Which federation is active: none was ever voted, the newest, or the one before it while the newest is too young. */
  #reference(): 'genesis' | 'new' | 'old' {
    const federation = this.#cells.newFederation.get()
    if (federation === undefined) return 'genesis'
    const isNew = this.#cells.oldFederation.get() === undefined || this.#isOldEnough(federation)
    return isNew ? 'new' : 'old'
  }

  #isOldEnough(federation: Federation): boolean {
    return this.ageOf(federation) >= this.activationAge
  }

  /** Blocks since its commitment. */
  ageOf({ creationBlock }: Federation): number {
    return this.#number - creationBlock
  }

  /** Age from which a federation is the active one, blocks. */
  get activationAge(): number {
    return this.#network.activationAge(this.#isActive)
  }

  active(): Federation {
    const reference = this.#reference()
    const { newFederation, oldFederation } = this.#cells
    const stored =
      reference === 'genesis' ? undefined : (reference === 'new' ? newFederation : oldFederation).get()
    return stored ?? genesisFederation(this.#network, this.#isActive)
  }

  /** The federation whose coins migrate; `undefined` when there is none. */
  retiring(): Federation | undefined {
    const { newFederation, oldFederation } = this.#cells
    const old = oldFederation.get()
    const newest = newFederation.get()
    return old !== undefined && newest !== undefined && this.#isOldEnough(newest) ? old : undefined
  }

  /** The active federation, then the retiring one if there is one. */
  live(): readonly Federation[] {
    const retiring = this.retiring()
    return retiring === undefined ? [this.active()] : [this.active(), retiring]
  }

  /** The federation that is being validated (RSKIP-419). */
  proposed(): Federation | undefined {
    return this.#isActive('rskip419') ? this.#cells.proposed.get() : undefined
  }

  /** Is a committed federation too young to be active? */
  isAwaitingActivation(): boolean {
    const newest = this.#cells.newFederation.get()
    return newest !== undefined && this.#cells.oldFederation.get() !== undefined && !this.#isOldEnough(newest)
  }

  /** Is a proposed federation within its validation period (RSKIP-419)? */
  isValidating(): boolean {
    const proposed = this.proposed()
    return proposed !== undefined && this.ageOf(proposed) < this.#network.validationPeriod
  }

  /** Outputs that the active federation can spend. */
  activeOutputs(): Cell<readonly SpendableOutput[]> {
    return this.#reference() === 'old' ? this.#cells.oldOutputs : this.#cells.newOutputs
  }

  /** Outputs that the retiring federation can spend; `undefined` without one. */
  retiringOutputs(): Cell<readonly SpendableOutput[]> | undefined {
    return this.retiring() === undefined ? undefined : this.#cells.oldOutputs
  }

  /** Is it the address of a member of one of these federations? */
  isMember(address: Hex, federations: readonly (Federation | undefined)[]): boolean {
    return federations.some((federation) =>
      federation?.members.some((member) => memberAddress(member) === address),
    )
  }
}

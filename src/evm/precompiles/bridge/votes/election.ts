/** Elections: who voted for which call of a setting, until enough have. */
import { compare, concat } from '../../../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../../encoding/hex.ts'
import { asBytes, asList, decodeRlp, encodeRlp, type RlpItem } from '../../../../encoding/rlp.ts'
import type { BridgeStore } from '../storage/store.ts'

/** What a vote is for: a function and its arguments. */
export interface Proposal {
  readonly name: string
  readonly args: readonly Uint8Array[]
}

interface Entry {
  readonly proposal: Proposal
  readonly voters: readonly Hex[]
}

const utf8 = new TextEncoder()

function keyOf({ name, args }: Proposal): string {
  return [name, ...args.map(toHex)].join()
}

/** Order within the cell: by the bytes of name and arguments, each byte signed. */
function signedBytes({ proposal }: Entry): Uint8Array {
  return concat(utf8.encode(proposal.name), ...proposal.args).map((byte) => byte ^ 0x80)
}

function encode(entries: readonly Entry[]): Uint8Array {
  const sorted = entries.toSorted((a, b) => compare(signedBytes(a), signedBytes(b)))
  return encodeRlp(
    sorted.flatMap(({ proposal, voters }): RlpItem[] => [
      [utf8.encode(proposal.name), proposal.args],
      voters.map(fromHex).sort(compare),
    ]),
  )
}

function decode(list: Uint8Array): Entry[] {
  const items = asList(decodeRlp(list), 'election')
  const entries: Entry[] = []
  for (let i = 0; i < items.length; i += 2) {
    const [name, args] = asList(items[i], 'proposal')
    const proposal = {
      name: new TextDecoder().decode(asBytes(name, 'function')),
      args: asList(args, 'arguments').map((arg) => asBytes(arg, 'argument')),
    }
    const voters = asList(items[i + 1], 'voters').map((voter) => toHex(asBytes(voter, 'voter')))
    entries.push({ proposal, voters })
  }
  return entries
}

/** So many votes decide where a majority does. */
export function majorityOf(voters: ReadonlySet<Hex>): number {
  return Math.floor(voters.size / 2) + 1
}

/** The election in one cell, written back by every call that reads it. */
export class Election {
  readonly #store: BridgeStore
  readonly #slot: bigint
  readonly #required: number
  #entries: Entry[]

  /** `required`: votes that decide. */
  constructor(store: BridgeStore, slot: bigint, required: number) {
    this.#store = store
    this.#slot = slot
    this.#required = required
    this.#entries = decode(store.touchList(slot))
  }

  /** Adds a vote; `false` when the voter has voted for this already. */
  vote(proposal: Proposal, voter: Hex): boolean {
    const key = keyOf(proposal)
    const at = this.#entries.findIndex((entry) => keyOf(entry.proposal) === key)
    const voters = this.#entries[at]?.voters ?? []
    if (voters.includes(voter)) return false
    const entry = { proposal, voters: [...voters, voter] }
    this.#set(at < 0 ? [...this.#entries, entry] : this.#entries.with(at, entry))
    return true
  }

  /** What has enough votes; `undefined` when nothing has. */
  winner(): Proposal | undefined {
    return this.#entries.find(({ voters }) => voters.length >= this.#required)?.proposal
  }

  /** Drops the votes for what has enough. */
  clearWinner(): void {
    const winner = this.winner()
    this.#set(this.#entries.filter(({ proposal }) => proposal !== winner))
  }

  clear(): void {
    this.#set([])
  }

  #set(entries: Entry[]): void {
    this.#entries = entries
    this.#store.write(this.#slot, encode(entries))
  }
}

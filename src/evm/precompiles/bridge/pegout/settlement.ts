/** What the making of a release leaves in the cells and logs. */
import { reversed } from '../../../../bitcoin/hash.ts'
import { unsignedSighash } from '../../../../bitcoin/redeem-input.ts'
import { type Transaction, txid } from '../../../../bitcoin/transaction.ts'
import { equal } from '../../../../encoding/bytes.ts'
import { fromHex, type Hex, toHex } from '../../../../encoding/hex.ts'
import { logReleaseCreated, logReleaseRequested } from '../events.ts'
import type { BridgeCall } from '../method.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import { encodeOutpointValues } from '../storage/peg-cells.ts'
import type { Cell } from '../storage/store.ts'
import type { Release } from './builder.ts'

/** A txid as it is displayed. */
export function displayedTxid(transaction: Transaction): Hex {
  return toHex(reversed(txid(transaction)))
}

/** What the events and the cell of a new transaction say about it. `creationHash`: of the transaction of this chain that made it. */
export function announce(
  { env, peg, isActive }: BridgeCall,
  { transaction, spent }: Release,
  { creationHash, amount }: { creationHash: Hex | undefined; amount: bigint },
): void {
  const id = displayedTxid(transaction)
  if (isActive('rskip146') && creationHash !== undefined)
    logReleaseRequested(env, [creationHash, id], [amount])
  if (!isActive('rskip428')) return
  const values = spent.map(({ value }) => value)
  logReleaseCreated(env, [id], [encodeOutpointValues(values)])
  peg.setOutpointValues(txid(transaction), values)
}

/** Adds a transaction to those that wait for confirmations, unless it is there. */
export function addWaiting(
  { peg, env, isActive }: BridgeCall,
  transaction: Transaction,
  creationHash?: Hex,
): void {
  const waiting = peg.waiting.get()
  const id = txid(transaction)
  if (waiting.some((other) => equal(txid(other.transaction), id))) return
  const hash = isActive('rskip146') && creationHash !== undefined ? fromHex(creationHash) : undefined
  peg.waiting.set([...waiting, { transaction, creationBlock: env.number, creationHash: hash }])
}

function isSpent(output: SpendableOutput, spent: readonly SpendableOutput[]): boolean {
  return spent.some(({ hash, index }) => index === output.index && equal(hash, output.hash))
}

/**
 * Takes what a release spends out of a list of outputs, and lets it wait, known by its sighash. `amount`: satoshi that the
 * event names. Throws a RangeError when the index has it.
 */
export function settle(
  call: BridgeCall,
  outputs: Cell<readonly SpendableOutput[]>,
  release: Release,
  named: { readonly creationHash: Hex | undefined; readonly amount: bigint },
): void {
  outputs.set(outputs.get().filter((output) => !isSpent(output, release.spent)))
  addWaiting(call, release.transaction, named.creationHash)
  if (call.isActive('rskip379')) {
    const sighash = unsignedSighash(release.transaction)
    if (sighash === undefined) throw new RangeError('a release without a script of a federation')
    call.peg.addPegoutSighash(sighash)
  }
  announce(call, release, named)
}

/** Moves the coins of the retiring federation to the active one. */
import type { Hex } from '../../../../encoding/hex.ts'
import type { BridgeCall } from '../method.ts'
import type { SpendableOutput } from '../storage/outputs.ts'
import type { Cell } from '../storage/store.ts'
import { feePerKb } from '../votes/settings.ts'
import { buildRelease, type Release } from './builder.ts'
import { settle } from './settlement.ts'
import { balanceOf, type Wallet, walletOf } from './wallet.ts'

/** The migration of as much as can be moved: half of it where all is too much. Throws a RangeError when it is dust. */
function buildMigration(call: BridgeCall, wallet: Wallet): Release {
  const { isActive, federations } = call
  const script = federations.active().outputScript
  const version = isActive('rskip376') && isActive('rskip201') ? 2 : 1
  for (let value = balanceOf(wallet); ; value /= 2n) {
    const plan = { wallet, payments: [{ value, script }], change: script, isPaidByReceivers: true }
    const release = buildRelease({ ...plan, feePerKb: feePerKb(call), version })
    if (release === 'dust') throw new RangeError('the coins of the retiring federation cannot be moved')
    if (typeof release !== 'string') return release
  }
}

function migrate(
  call: BridgeCall,
  wallet: Wallet,
  outputs: Cell<readonly SpendableOutput[]>,
  creationHash: Hex,
): void {
  call.peg.waiting.get()
  const release = buildMigration(call, wallet)
  settle(call, outputs, release, { creationHash, amount: balanceOf({ outputs: release.spent }) })
}

/** Migrates while the active federation is of the age for it; afterwards a last time, and the retiring one is gone. */
export function migrateFunds(call: BridgeCall, creationHash: Hex): void {
  const { federations, federationCells, network, isActive } = call
  const retiring = federations.retiring()
  const outputs = federations.retiringOutputs()
  if (retiring === undefined || outputs === undefined) return
  const limit = isActive('rskip294') ? network.maxMigrationInputs : Number.POSITIVE_INFINITY
  const wallet = walletOf(call, retiring, outputs.get().slice(0, limit))
  const age = federations.ageOf(federations.active())
  const begin = federations.activationAge + network.migrationBegin
  const end = federations.activationAge + network.migrationEnd(isActive)
  if (begin < age && age < end && balanceOf(wallet) > feePerKb(call) / 2n) {
    migrate(call, wallet, outputs, creationHash)
  }
  if (age < end) return
  if (balanceOf(wallet) > 0n) migrateOrLeave(call, wallet, outputs, creationHash)
  federationCells.oldFederation.set(undefined)
}

/** The last migration; coins that cannot be moved stay where they are. */
function migrateOrLeave(
  call: BridgeCall,
  wallet: Wallet,
  outputs: Cell<readonly SpendableOutput[]>,
  creationHash: Hex,
): void {
  try {
    migrate(call, wallet, outputs, creationHash)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
}

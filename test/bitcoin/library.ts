/** The functions of bitcoinjs-lib that the tests compare with, and random transactions of its making. */
import { createRequire } from 'node:module'
import fc from 'fast-check'

/** A transaction of the library. Hashes are in raw order. */
export interface LibraryTransaction {
  version: number
  locktime: number
  addInput(hash: Uint8Array, index: number, sequence: number, script: Uint8Array): number
  addOutput(script: Uint8Array, value: bigint): number
  setWitness(index: number, witness: Uint8Array[]): void
  toBuffer(): Uint8Array
  getHash(forWitness?: boolean): Uint8Array
  hashForSignature(index: number, script: Uint8Array, type: number): Uint8Array
  hashForWitnessV0(index: number, script: Uint8Array, value: bigint, type: number): Uint8Array
}

interface Library {
  readonly Transaction: {
    new (): LibraryTransaction
    fromBuffer(bytes: Uint8Array): LibraryTransaction
    readonly SIGHASH_ALL: number
  }
  readonly Block: { calculateMerkleRoot(transactions: readonly LibraryTransaction[]): Uint8Array }
  readonly networks: { readonly bitcoin: object; readonly regtest: object }
  readonly address: { toOutputScript(address: string, network: object): Uint8Array }
  readonly payments: {
    p2ms(options: { m: number; pubkeys: readonly Uint8Array[]; network: object }): { output: Uint8Array }
    p2sh(options: { redeem: { output: Uint8Array }; network: object }): {
      address: string
      output: Uint8Array
    }
    p2wsh(options: { redeem: { output: Uint8Array }; network: object }): { output: Uint8Array }
    p2wpkh(options: { pubkey: Uint8Array; network: object }): { output: Uint8Array }
    p2pkh(options: { pubkey: Uint8Array; network: object }): { address: string; output: Uint8Array }
  }
  readonly script: {
    decompile(script: Uint8Array): readonly (number | Uint8Array)[] | null
    readonly signature: { encode(signature: Uint8Array, type: number): Uint8Array }
    readonly number: { encode(value: number): Uint8Array }
  }
}

/** bitcoinjs-lib. */
export const library: Library = createRequire(import.meta.url)('bitcoinjs-lib')

/** Up to so many random bytes. */
export const someBytes = (maxLength: number) => fc.uint8Array({ maxLength })
export const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 })

/** Random transactions with at least one input and one output, some of them with witnesses. */
export const transactions: fc.Arbitrary<LibraryTransaction> = fc
  .record({
    version: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    locktime: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    inputs: fc.array(
      fc.record({
        hash: hashes,
        index: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        sequence: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        script: someBytes(300),
        witness: fc.array(someBytes(300), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    outputs: fc.array(
      fc.record({ script: someBytes(300), value: fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n }) }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ version, locktime, inputs, outputs }) => {
    const transaction = new library.Transaction()
    transaction.version = version
    transaction.locktime = locktime
    for (const { hash, index, sequence, script, witness } of inputs) {
      transaction.setWitness(transaction.addInput(hash, index, sequence, script), witness)
    }
    for (const { script, value } of outputs) transaction.addOutput(script, value)
    return transaction
  })

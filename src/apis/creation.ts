/** How contracts were created: their init code and the arguments of their constructors. */
import { type Hex, toHex } from '../encoding/hex.ts'
import type { Engine } from '../engine/engine.ts'
import { constructorArguments, templateOf } from '../sources/code-template.ts'
import type { CompiledContract } from '../sources/compilation.ts'

/** The init code of the transaction that created a contract; `undefined` where a contract created it, or where that is not known. */
export async function creationCode(engine: Engine, address: Hex): Promise<Uint8Array | undefined> {
  const origin = await engine.queries.contractOrigin(address)
  const transaction = origin && engine.queries.transaction(origin.hash)?.transaction
  return transaction?.to === null ? transaction.data : undefined
}

/** The constructor arguments that a contract was created with, hex without prefix; empty where they are not known. */
export async function argumentsOf(engine: Engine, address: Hex, contract: CompiledContract): Promise<string> {
  const initcode = await creationCode(engine, address)
  const found = initcode && constructorArguments(templateOf(contract.evm.bytecode), initcode)
  return found === undefined ? '' : toHex(found).slice(2)
}

/** Inputs that wait for signatures: the place of each is kept by an empty push, which the signature replaces. */
import { EMPTY } from '../encoding/bytes.ts'
import { witnessScriptProgram } from './output-script.ts'
import type { Redeem } from './redeem-script-parser.ts'
import { type Chunk, OP, parseScript, push, writeChunks } from './script.ts'
import type { Input } from './transaction.ts'

/** Script and witness of an input. */
export type Unlocking = Pick<Input, 'script' | 'witness'>

/** The unsigned input of an output to the script's hash. A script with emergency keys has one more item, which is empty. */
export function baseScript({ script, required, hasEmergency }: Redeem): Unlocking {
  const empty: Chunk[] = Array.from({ length: 1 + required + (hasEmergency ? 1 : 0) }, () => ({
    opcode: OP[0],
  }))
  return { script: writeChunks([...empty, ...parseScript(push(script))]), witness: [] }
}

/** No signatures for an output to the hash of the script's witness program; the script has emergency keys. */
export function baseWitness({ script, required }: Redeem): Unlocking {
  const empty = Array.from({ length: required + 2 }, () => EMPTY)
  return { script: push(witnessScriptProgram(script)), witness: [...empty, script] }
}

/** The chain's opcodes of a height for the library (docs/internals/protocol.md#61-opcodes): those that it has, with what is otherwise here. */

import type { Common } from '@ethereumjs/common'
import { getOpcodesForHF } from '@ethereumjs/evm'
import { EMPTY_CODE_HASH } from '../chain/account.ts'
import { GAS } from '../evm/gas-schedule.ts'
import { INVALID } from '../evm/opcodes/operation.ts'
import type { VmRules } from '../evm/rules.ts'
import { MAX_WORD, wordToAddress } from '../evm/word.ts'
import { callOpcodes } from './call-opcodes.ts'
import { readableCode } from './chain-evm.ts'
import { createOpcodes } from './create-opcodes.ts'
import { RETIRED } from './earlier-opcodes.ts'
import { type CustomOpcode, type GasFunction, type Opcode, type RunState, runOf } from './run-state.ts'

/** A jump of the library's loop counts as this many of ours: it is far slower between jumps. */
const TICKS_PER_DESTINATION = 128

/** Yields to the event loop; every loop of code passes a JUMPDEST. */
export const pausingJumpDestination: Opcode = {
  opcode: 0x5b,
  opcodeName: 'JUMPDEST',
  baseFee: GAS.jumpDestination,
  logicFunction: (runState) => {
    const { clock } = runOf(runState).session
    clock.ticks -= TICKS_PER_DESTINATION
    return clock.ticks <= 0 && clock.mustPause() ? clock.pause() : undefined
  },
}

/** What the library does for an opcode, and how it computes gas, before any of it is replaced. */
function libraryOpcodes(common: Common) {
  const { handlers, dynamicGasHandlers } = getOpcodesForHF(common)
  return {
    logic(opcode: number): Opcode['logicFunction'] {
      const handler = handlers.get(opcode)
      if (handler === undefined) throw new Error(`the library has no opcode ${opcode}`)
      return handler
    },
    gas(opcode: number): GasFunction {
      const handler = dynamicGasHandlers.get(opcode)
      if (handler === undefined) throw new Error(`the library has no gas of opcode ${opcode}`)
      return handler
    },
  }
}

/** EXTCODESIZE: since RSKIP-90 the code of a precompiled contract is the longest. */
function codeSize(runState: RunState, logic: () => unknown): unknown {
  const { session, rules } = runOf(runState)
  const [address = 0n] = runState.stack.peek(1)
  const isPrecompile = session.precompiles.has(wordToAddress(address))
  if (!isPrecompile || !rules.frames.returnsPrecompileOutput) return logic()
  runState.stack.pop()
  runState.stack.push(MAX_WORD)
  return undefined
}

function codeHash(runState: RunState): void {
  const { session, rules } = runOf(runState)
  const address = wordToAddress(runState.stack.pop())
  const account = session.journal.state.account(address)
  const isBare = account?.isContract === true && account.codeHash === EMPTY_CODE_HASH
  if (session.precompiles.has(address)) runState.stack.push(BigInt(EMPTY_CODE_HASH))
  else if (account === undefined || (isBare && !rules.hashesBareContracts)) runState.stack.push(0n)
  else runState.stack.push(BigInt(account.codeHash))
}

function accountOpcodes({ logic, gas }: ReturnType<typeof libraryOpcodes>): Opcode[] {
  return [
    { opcode: 0x46, opcodeName: 'CHAINID', baseFee: GAS.base, logicFunction: logic(0x46) },
    { opcode: 0x47, opcodeName: 'SELFBALANCE', baseFee: GAS.low, logicFunction: logic(0x47) },
    {
      opcode: 0x39,
      opcodeName: 'CODECOPY',
      baseFee: GAS.veryLow,
      gasFunction: gas(0x39),
      logicFunction: (runState, common) => {
        runState.env.code = readableCode(runState.env.code)
        return logic(0x39)(runState, common)
      },
    },
    {
      opcode: 0x3b,
      opcodeName: 'EXTCODESIZE',
      baseFee: GAS.externalCode,
      logicFunction: (runState, common) =>
        codeSize(runState, () => logic(0x3b)(runState, common)) as Promise<void>,
    },
    {
      opcode: 0x3c,
      opcodeName: 'EXTCODECOPY',
      baseFee: GAS.externalCode,
      gasFunction: gas(0x3c),
      logicFunction: logic(0x3c),
    },
    {
      opcode: 0x3f,
      opcodeName: 'EXTCODEHASH',
      baseFee: GAS.externalCodeHash,
      logicFunction: codeHash,
    },
  ]
}

/** The custom opcodes of the library's EVM for the rules of a height; `common` is that of the rules. */
export function chainOpcodes(common: Common, rules: VmRules): CustomOpcode[] {
  const library = libraryOpcodes(common)
  const has = (opcode: number): boolean => rules.opcodes[opcode] !== undefined
  const replaced = [
    pausingJumpDestination,
    ...accountOpcodes(library),
    ...callOpcodes(rules, library.logic),
    ...createOpcodes(rules, library.logic),
    ...RETIRED,
  ].filter(({ opcode }) => has(opcode))
  const absent = [...Array(INVALID).keys()].filter((opcode) => !has(opcode)).map((opcode) => ({ opcode }))
  return [...absent, ...replaced]
}

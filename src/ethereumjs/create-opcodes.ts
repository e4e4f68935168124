/** CREATE, CREATE2 and SELFDESTRUCT of the library by the chain's rules (docs/internals/protocol.md#63-calls-and-creations). */
import { MAX_INITCODE_SIZE } from '../chain/intrinsic-gas.ts'
import { EMPTY, fromBigIntFixed } from '../encoding/bytes.ts'
import { FAILURE } from '../evm/failure.ts'
import { GAS, REFUND } from '../evm/gas-schedule.ts'
import type { VmRules } from '../evm/rules.ts'
import { TICKS_PER_CALL } from '../evm/scheduler.ts'
import { wordToAddress } from '../evm/word.ts'
import {
  evmOf,
  fail,
  type GasFunction,
  isMissing,
  memoryGas,
  type Opcode,
  type RunState,
  runOf,
} from './run-state.ts'

/** The child gets all the gas. `perWord` is the price of a word of init code. */
function createGas(perWord: bigint, isLimited: boolean): GasFunction {
  return async (runState, base) => {
    if (runState.env.isStatic) fail(FAILURE.STATIC_STATE_CHANGE)
    const [, offset = 0n, length = 0n] = runState.stack.peek(3)
    const gas = base + perWord * ((length + 31n) / 32n) + memoryGas(runState, offset, length)
    if (runState.gasLeft < gas) fail(FAILURE.OUT_OF_GAS)
    if (isLimited && length > MAX_INITCODE_SIZE) fail(FAILURE.INITCODE_SIZE_VIOLATION)
    runState.messageGasLimit = runState.gasLeft - gas
    return gas
  }
}

/** What the library keeps of a frame's result while it runs, in a protected member. */
function resultOf(runState: RunState): { readonly selfdestruct: ReadonlyMap<string, string> } {
  return (runState.interpreter as unknown as { _result: ReturnType<typeof resultOf> })._result
}

/** Creates by the library, which would not take init code that begins with 0xef00. */
async function createLogic(runState: RunState, takesSalt: boolean): Promise<void> {
  const { interpreter, memory, stack } = runState
  const [value = 0n, offset = 0n, length = 0n, salt = 0n] = stack.popN(takesSalt ? 4 : 3)
  const gas = runState.messageGasLimit ?? 0n
  Object.assign(runState, { messageGasLimit: undefined })
  const initcode = length === 0n ? EMPTY : memory.read(Number(offset), Number(length))
  stack.push(
    await interpreter.create(gas, value, initcode, takesSalt ? fromBigIntFixed(salt, 32) : undefined),
  )
}

function creation(opcode: number, opcodeName: string, rules: VmRules): Opcode {
  const takesSalt = opcode === 0xf5
  const { limitsInitcode } = rules.frames
  const perWord = (limitsInitcode ? GAS.initcodeWord : 0) + (takesSalt ? GAS.keccak256Word : 0)
  return {
    opcode,
    opcodeName,
    baseFee: GAS.create,
    gasFunction: createGas(BigInt(perWord), limitsInitcode),
    logicFunction: async (runState) => {
      const evm = evmOf(runState)
      const { journal, clock } = evm.run.session
      const { returnBytes, gasRefund, stack } = runState
      const destroyed = resultOf(runState).selfdestruct.size
      evm.ended = undefined
      await createLogic(runState, takesSalt)
      // A creation that is refused keeps the return data; any other leaves none, and no refund of what it cleared.
      if (evm.ended === undefined) runState.returnBytes = returnBytes
      else {
        const [created = 0n] = stack.peek(1)
        const creator = runState.env.address.toString()
        const contract = wordToAddress(created)
        if (created !== 0n) journal.creations.push({ contract, creator })
        journal.involve(creator, created === 0n ? creator : contract)
        runState.returnBytes = EMPTY
        const more = resultOf(runState).selfdestruct.size - destroyed
        runState.gasRefund = gasRefund + BigInt(REFUND.selfDestruct * more)
      }
      clock.ticks -= TICKS_PER_CALL
      if (clock.ticks <= 0 && clock.mustPause()) await clock.pause()
    },
  }
}

const destroyGas: GasFunction = async (runState, base) => {
  if (runState.env.isStatic) fail(FAILURE.STATIC_STATE_CHANGE)
  const [beneficiary = 0n] = runState.stack.peek(1)
  return isMissing(runState, beneficiary) ? base + BigInt(GAS.newAccount) : base
}

/** SELFDESTRUCT without balance, which leaves an absent beneficiary absent. */
function destroy(logic: Opcode['logicFunction']): Opcode['logicFunction'] {
  return async (runState, common) => {
    const [word = 0n] = runState.stack.peek(1)
    const beneficiary = wordToAddress(word)
    const { journal } = runOf(runState).session
    const { state } = journal
    journal.involve(runState.env.address.toString(), beneficiary)
    if (runState.env.contract.balance !== 0n) journal.recorded++
    const staysAbsent = state.account(beneficiary) === undefined && runState.env.contract.balance === 0n
    if (staysAbsent) state.checkpoint()
    try {
      await logic(runState, common)
    } finally {
      // Without balance the library writes nothing but the beneficiary.
      if (staysAbsent) state.revert()
    }
  }
}

/** Creations and destruction of a height; `logic` gives the library's own by opcode. */
export function createOpcodes(rules: VmRules, logic: (opcode: number) => Opcode['logicFunction']): Opcode[] {
  return [
    creation(0xf0, 'CREATE', rules),
    creation(0xf5, 'CREATE2', rules),
    {
      opcode: 0xff,
      opcodeName: 'SELFDESTRUCT',
      baseFee: GAS.selfDestruct,
      gasFunction: destroyGas,
      logicFunction: destroy(logic(0xff)),
    },
  ]
}

/**
 * Listens to the library's executor, opcode by opcode. Not by its `step` events: these copy all memory each time, and read
 * what a REVERT names before anybody has paid for it.
 */
import type { Common } from '@ethereumjs/common'
import { type EVM, type EVMOpts, getOpcodesForHF } from '@ethereumjs/evm'
import type { Hex } from '../encoding/hex.ts'

/** An opcode that is about to run under Ethereum's rules. Gas in gas. */
export interface EthereumStep {
  /** One that the fork does not know is INVALID, 0xfe. */
  readonly opcode: number
  readonly name: string
  readonly pc: number
  readonly depth: number
  /** Whose storage it works on. */
  readonly address: Hex
  /** Without what it hands down to a call, and less what a call with value gives to the callee for nothing. */
  readonly cost: number
  readonly gasLeft: number
}

/** Hears of a run under Ethereum's rules. */
export interface EthereumListener {
  /** An opcode is about to run. */
  step(step: EthereumStep): void
  /** It has run; not told of one that its frame failed of. */
  paid(step: EthereumStep): void
  /** A native contract has used so much gas. */
  native(gasUsed: bigint): void
  /** A contract has got code of so many bytes. */
  deposit(bytes: number): void
}

/** An opcode of the library that is laid over its own. */
export type EthereumOpcode = Extract<NonNullable<EVMOpts['customOpcodes']>[number], { opcodeName: string }>
type RunState = Parameters<EthereumOpcode['logicFunction']>[0]

/** Gas that a call with value gives to the callee for nothing. */
const STIPEND = 2300n

function stipendOf({ stack }: RunState, opcode: number): bigint {
  if ((opcode !== 0xf1 && opcode !== 0xf2) || stack.length < 3) return 0n
  return stack.peek(3)[2] === 0n ? 0n : STIPEND
}

interface OpenMessage {
  readonly isPrecompile: boolean
  readonly isCreation: boolean
  /** Told of, and perhaps what the frame will fail of. */
  last?: EthereumStep
}

/** Did the last opcode of a message run? A creation may also fail behind its RETURN, of the code that it gave. */
function hasRun({ opcode, cost, gasLeft }: EthereumStep, failure: string | undefined): boolean {
  if (failure === undefined || failure === 'revert') return true
  return opcode === 0xf3 && cost <= gasLeft
}

/** An ear for one run: its opcodes go to the EVM when that is made, `listen` is called once it is. */
export interface EthereumOpcodeListener {
  readonly opcodes: readonly EthereumOpcode[]
  listen(evm: EVM): void
}

/** Makes an ear; `own` are opcodes that do something of their own. */
export function createEthereumOpcodeListener(
  common: Common,
  own: readonly EthereumOpcode[],
  listener: EthereumListener,
): EthereumOpcodeListener {
  const library = getOpcodesForHF(common, [...own])
  const open: OpenMessage[] = []

  function tell(step: EthereumStep): void {
    const message = open.at(-1)
    if (message?.last) listener.paid(message.last)
    if (message) message.last = step
    listener.step(step)
  }

  const opcodes = [...library.opcodes].map(([opcode, info]): EthereumOpcode => {
    const gas = info.dynamicGas ? library.dynamicGasHandlers.get(opcode) : undefined
    return {
      opcode,
      opcodeName: info.name,
      baseFee: info.fee,
      async gasFunction(runState, base, rules) {
        let cost = base
        try {
          if (gas !== undefined) cost = await gas(runState, base, rules)
          return cost
        } finally {
          tell({
            opcode,
            name: info.fullName,
            pc: runState.programCounter,
            depth: runState.env.depth,
            address: runState.env.address.toString(),
            cost: Number(cost - stipendOf(runState, opcode)),
            gasLeft: Number(runState.gasLeft),
          })
        }
      },
      logicFunction: library.handlers.get(opcode) ?? (() => undefined),
    }
  })

  return {
    opcodes,
    listen(evm) {
      evm.events.on('beforeMessage', (message) => {
        const isCreation = message.to === undefined
        // A creation has no code address, and says so by throwing.
        const isPrecompile = !isCreation && evm.getPrecompile(message.codeAddress) !== undefined
        open.push({ isCreation, isPrecompile })
      })
      evm.events.on('afterMessage', ({ execResult }) => {
        const ended = open.pop()
        const failure = execResult.exceptionError?.error
        if (ended?.last && hasRun(ended.last, failure)) listener.paid(ended.last)
        if (ended?.isPrecompile) listener.native(execResult.executionGasUsed)
        if (ended?.isCreation && failure === undefined) listener.deposit(execResult.returnValue.length)
      })
    },
  }
}

/**
 * Error members by dialect. The sentences are those of Hardhat 2 (internal/hardhat-network/stack-traces and
 * provider/errors), of Anvil 1.7 (anvil/core/eth, foundry's revert decoder), and what ape-foundry and viem match.
 */
import { describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import {
  EMPTY_SENDER,
  INSUFFICIENT_FUNDS,
  INTRINSIC_GAS_TOO_LOW,
  NONCE_TOO_LOW,
  REPLACEMENT_UNDERPRICED,
} from '../../src/engine/pool/policy.ts'
import { type ExecutionFailure, NodeError } from '../../src/errors.ts'
import { failureError, failureOf } from '../../src/evm/failure-message.ts'
import { errorObjectIn } from '../../src/rpc/dialects.ts'
import { toErrorObject } from '../../src/rpc/error-codes.ts'

const word = (value: number) => value.toString(16).padStart(64, '0')
const REASON: Hex = `0x08c379a0${word(32)}${word(2)}${Buffer.from('no').toString('hex').padEnd(64, '0')}`
const PANIC: Hex = `0x4e487b71${word(0x11)}`
const CUSTOM: Hex = '0xdeadbeef'
const HASH: Hex = `0x${'ab'.repeat(32)}`

function reverted(data: Hex, transactionHash?: Hex): NodeError {
  const failure = failureOf({
    status: 'reverted',
    failure: undefined,
    output: fromHex(data),
  }) as ExecutionFailure
  return failureError({ ...failure, ...(transactionHash && { transactionHash }) })
}
const failed = (reason: string) => failureError({ kind: 'failed', reason, output: new Uint8Array(0) })
const refused = (message: string) => errorsOf(new NodeError('transaction-refused', message))
const errorsOf = (error: unknown) => ({
  hardhat: errorObjectIn('hardhat', error),
  anvil: errorObjectIn('anvil', error),
})
const VM = 'Error: VM Exception while processing transaction:'

describe('a failed call', () => {
  it.each<[string, Hex, string, string]>([
    ['a reason', REASON, `${VM} reverted with reason string 'no'`, 'execution reverted: no'],
    [
      'a panic',
      PANIC,
      `${VM} reverted with panic code 0x11 (Arithmetic operation overflowed outside of an unchecked block)`,
      'execution reverted: panic: arithmetic underflow or overflow (0x11)',
    ],
    [
      'an unknown custom error',
      CUSTOM,
      `${VM} reverted with an unrecognized custom error (return data: 0xdeadbeef)`,
      'execution reverted: custom error 0xdeadbeef',
    ],
    ['nothing', '0x', 'Error: Transaction reverted without a reason string', 'execution reverted'],
  ])('with %s has code 3 and the payload as data', (_, data, hardhat, anvil) => {
    expect(errorsOf(reverted(data))).toEqual({
      hardhat: { code: 3, message: hardhat, data },
      anvil: { code: 3, message: anvil, data },
    })
  })

  it('names the cause of a failure that is not a revert', () => {
    expect(errorsOf(failed('out of gas'))).toEqual({
      hardhat: { code: 3, message: 'Error: Transaction ran out of gas', data: '0x' },
      anvil: { code: -32003, message: 'EVM error: out of gas', data: '0x' },
    })
    expect(errorsOf(failed('invalid opcode')).hardhat.message).toBe(`${VM} invalid opcode`)
  })

  it('that was mined has the hash in Hardhat’s form', () => {
    const message = `${VM} reverted with reason string 'no'`
    expect(errorsOf(reverted(REASON, HASH)).hardhat).toEqual({
      code: -32603,
      message,
      data: { message, txHash: HASH, data: REASON },
    })
  })
})

describe('a refused transaction', () => {
  const NO_FUNDS = 'insufficient funds for gas * price + value'
  const HARDHAT_NO_FUNDS = "Sender doesn't have enough funds to send tx: "

  // viem 2 (errors/node.ts) and ethers 6 (providers/provider-jsonrpc.ts) match these words.
  it.each([
    [EMPTY_SENDER, `${NO_FUNDS}: the sender has no balance`, HARDHAT_NO_FUNDS],
    [INSUFFICIENT_FUNDS, NO_FUNDS, HARDHAT_NO_FUNDS],
    [NONCE_TOO_LOW, 'nonce too low'],
    [INTRINSIC_GAS_TOO_LOW, 'intrinsic gas too low'],
    [REPLACEMENT_UNDERPRICED, 'replacement transaction underpriced'],
  ])('%s is recognised by its message', (message, words, before = '') => {
    const { hardhat, anvil } = refused(message)
    expect(hardhat).toEqual({ code: -32000, message: `${before}${words}` })
    expect(anvil).toEqual({ code: -32003, message: words })
  })

  it('keeps the chain’s own message unless a client expects another one', () => {
    expect(refused('account exceeds quota').hardhat.message).toBe('account exceeds quota')
  })
})

it('leaves all other errors, and the reference node’s dialect, unchanged', () => {
  const errors = [new NodeError('block-not-found', 'Block not found'), new Error('a bug'), reverted(REASON)]
  for (const error of errors) expect(errorObjectIn('rsk', error)).toEqual(toErrorObject(error))
  for (const error of errors.slice(0, 2)) expect(errorsOf(error).anvil).toEqual(toErrorObject(error))
})

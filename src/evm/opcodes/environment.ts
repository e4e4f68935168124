/** What code can ask of its call, of the block and of other accounts: 0x30 to 0x48, 0x5a. */
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import { EMPTY, toBigInt } from '../../encoding/bytes.ts'
import { type Hex, hexToBigInt } from '../../encoding/hex.ts'
import type { Frame } from '../frame.ts'
import { MAX_WORD, wordToAddress } from '../word.ts'
import { copyToMemory } from './memory.ts'
import { type Operation, operation, STATE_TICKS } from './operation.ts'

/** How many blocks back BLOCKHASH sees. */
const HASH_WINDOW = 256

/** An opcode that only answers. */
function answer(code: number, name: string, run: (frame: Frame) => bigint, fee = 2): Operation {
  return operation(code, name, fee, 0, 1, (frame) => frame.push(run(frame)))
}

function balanceOf(frame: Frame, address: Hex): bigint {
  frame.spend(STATE_TICKS)
  return frame.session.journal.state.account(address)?.balance ?? 0n
}

/** A native contract pretends to have code of the greatest length (RSKIP-90). */
function externalSize(frame: Frame): void {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  frame.push(
    frame.session.rules.precompiles.has(address)
      ? MAX_WORD
      : BigInt(frame.session.journal.codeOf(address).length),
  )
}

/** 0 where there is no account; by Ethereum's rules also where it is empty (EIP-1052, RSKIP-140, RSKIP-169). */
function externalHash(frame: Frame): void {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  const { rules, journal } = frame.session
  const account = journal.state.account(address)
  if (rules.precompiles.has(address)) {
    frame.push(BigInt(EMPTY_CODE_HASH))
  } else if (account === undefined) {
    frame.push(0n)
  } else {
    const empty = account.nonce === 0n && account.balance === 0n && account.codeHash === EMPTY_CODE_HASH
    frame.push(empty && !rules.chainCalls ? 0n : BigInt(account.codeHash))
  }
}

function externalCopy(frame: Frame): void {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  const to = frame.pop()
  const from = frame.pop()
  const length = frame.pop()
  const code = frame.session.rules.precompiles.has(address) ? EMPTY : frame.session.journal.codeOf(address)
  copyToMemory(frame, code, to, from, length)
}

function inputWord(frame: Frame): void {
  const wanted = frame.pop()
  if (wanted >= BigInt(frame.input.length)) {
    frame.push(0n)
    return
  }
  const offset = Number(wanted)
  const bytes = frame.input.subarray(offset, offset + 32)
  frame.push(toBigInt(bytes) << BigInt(8 * (32 - bytes.length)))
}

function blockHash(frame: Frame): void {
  const wanted = frame.pop()
  const { env } = frame.session
  const known = wanted < BigInt(env.number) && wanted >= BigInt(env.number - HASH_WINDOW)
  const hash = known ? env.ancestorHash(Number(wanted)) : undefined
  frame.push(hash === undefined ? 0n : hexToBigInt(hash))
}

export const SURROUNDINGS: readonly Operation[] = [
  answer(0x30, 'ADDRESS', (frame) => BigInt(frame.address)),
  operation(0x31, 'BALANCE', 400, 1, 1, (frame) => frame.push(balanceOf(frame, wordToAddress(frame.pop())))),
  answer(0x32, 'ORIGIN', (frame) => BigInt(frame.session.origin)),
  answer(0x33, 'CALLER', (frame) => BigInt(frame.caller)),
  answer(0x34, 'CALLVALUE', (frame) => frame.value),
  operation(0x35, 'CALLDATALOAD', 3, 1, 1, inputWord),
  answer(0x36, 'CALLDATASIZE', (frame) => BigInt(frame.input.length)),
  answer(0x38, 'CODESIZE', (frame) => BigInt(frame.analysis.code.length)),
  answer(0x3a, 'GASPRICE', (frame) => frame.session.gasPrice),
  operation(0x3b, 'EXTCODESIZE', 700, 1, 1, externalSize),
  operation(0x3c, 'EXTCODECOPY', 700, 4, 0, externalCopy),
  answer(0x3d, 'RETURNDATASIZE', (frame) => BigInt(frame.returned.length)),
  operation(0x3f, 'EXTCODEHASH', 400, 1, 1, externalHash),
  operation(0x40, 'BLOCKHASH', 20, 1, 1, blockHash),
  answer(0x41, 'COINBASE', (frame) => BigInt(frame.session.env.coinbase)),
  answer(0x42, 'TIMESTAMP', (frame) => BigInt(frame.session.env.timestamp)),
  answer(0x43, 'NUMBER', (frame) => BigInt(frame.session.env.number)),
  answer(0x44, 'DIFFICULTY', (frame) => frame.session.env.difficulty),
  answer(0x45, 'GASLIMIT', (frame) => frame.session.env.gasLimit),
  answer(0x46, 'CHAINID', (frame) => BigInt(frame.session.chainId)),
  answer(0x47, 'SELFBALANCE', (frame) => balanceOf(frame, frame.address), 5),
  answer(0x48, 'BASEFEE', (frame) => frame.session.env.minimumGasPrice),
  answer(0x5a, 'GAS', (frame) => BigInt(frame.gas)),
]

/** Values of the call, the block and other accounts: 0x30 to 0x48, 0x5a. */
import { EMPTY_CODE_HASH } from '../../chain/account.ts'
import { EMPTY, fromBigIntSigned, toBigInt } from '../../encoding/bytes.ts'
import { type Hex, hexToBigInt } from '../../encoding/hex.ts'
import { CHECKED, type CompiledForm, FROM_TABLE } from '../compiled/form.ts'
import { GAS_LEFT, INPUT_LOADED, ofCode, ofFrameNumber, ofFrameWord } from '../compiled/inline.ts'
import { ADDRESS_AT, CALLER_AT, INPUT_LENGTH_AT, RETURNED_AT, VALUE_AT } from '../compiled/protocol.ts'
import type { Frame } from '../frame.ts'
import { GAS } from '../gas-schedule.ts'
import { MAX_WORD, wordToAddress } from '../word.ts'
import { copyToMemory } from './memory.ts'
import { type Operation, type OperationTraits, operation, STATE_TICKS } from './operation.ts'

/** How many blocks back BLOCKHASH sees. */
const HASH_WINDOW = 256

/** An opcode that pushes one value and takes none, at the lowest price. */
function getter(
  code: number,
  name: string,
  run: (frame: Frame) => bigint,
  compiled: CompiledForm = FROM_TABLE,
  traits: OperationTraits = {},
): Operation {
  return operation(code, name, GAS.base, 0, 1, (frame) => frame.push(run(frame)), { compiled, ...traits })
}

/** One below zero is the bytes of its two's complement, as few as there are, read as unsigned (as the reference node does). */
function balanceOf(frame: Frame, address: Hex): bigint {
  frame.spend(STATE_TICKS)
  const balance = frame.session.journal.state.account(address)?.balance ?? 0n
  return balance < 0n ? toBigInt(fromBigIntSigned(balance)) : balance
}

/** The code of a precompiled contract counts as longest (RSKIP-90). */
function externalSize(frame: Frame): void {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  frame.push(
    frame.session.precompiles.has(address) ? MAX_WORD : BigInt(frame.session.journal.codeOf(address).length),
  )
}

/** 0 where there is no account, but not where it is empty (RSKIP-140, RSKIP-169; unlike EIP-1052). */
function externalHash(frame: Frame): void {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  const { precompiles, journal } = frame.session
  const account = journal.state.account(address)
  const hash = precompiles.has(address) ? EMPTY_CODE_HASH : account?.codeHash
  frame.push(hash === undefined ? 0n : BigInt(hash))
}

function externalCopy(frame: Frame): void {
  frame.spend(STATE_TICKS)
  const address = wordToAddress(frame.pop())
  const to = frame.pop()
  const from = frame.pop()
  const length = frame.pop()
  const code = frame.session.precompiles.has(address) ? EMPTY : frame.session.journal.codeOf(address)
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

export const ENVIRONMENT: readonly Operation[] = [
  getter(0x30, 'ADDRESS', (frame) => BigInt(frame.address), ofFrameWord(ADDRESS_AT)),
  operation(
    0x31,
    'BALANCE',
    GAS.balance,
    1,
    1,
    (frame) => frame.push(balanceOf(frame, wordToAddress(frame.pop()))),
    { compiled: CHECKED },
  ),
  getter(0x32, 'ORIGIN', (frame) => BigInt(frame.session.origin)),
  getter(0x33, 'CALLER', (frame) => BigInt(frame.caller), ofFrameWord(CALLER_AT)),
  getter(0x34, 'CALLVALUE', (frame) => frame.value, ofFrameWord(VALUE_AT)),
  operation(0x35, 'CALLDATALOAD', GAS.veryLow, 1, 1, inputWord, { compiled: INPUT_LOADED }),
  getter(0x36, 'CALLDATASIZE', (frame) => BigInt(frame.input.length), ofFrameNumber(INPUT_LENGTH_AT)),
  getter(
    0x38,
    'CODESIZE',
    (frame) => BigInt(frame.analysis.code.length),
    ofCode((code) => BigInt(code.length)),
  ),
  getter(0x3a, 'GASPRICE', (frame) => frame.session.gasPrice),
  operation(0x3b, 'EXTCODESIZE', GAS.externalCode, 1, 1, externalSize, { compiled: CHECKED }),
  operation(0x3c, 'EXTCODECOPY', GAS.externalCode, 4, 0, externalCopy, {
    compiled: CHECKED,
    hasDynamicGas: true,
    memory: { offset: 1, length: 3, access: 'write' },
  }),
  getter(0x3d, 'RETURNDATASIZE', (frame) => BigInt(frame.returned.length), ofFrameNumber(RETURNED_AT)),
  operation(0x3f, 'EXTCODEHASH', GAS.externalCodeHash, 1, 1, externalHash, {
    since: 'rskip140',
    compiled: CHECKED,
  }),
  operation(0x40, 'BLOCKHASH', GAS.blockHash, 1, 1, blockHash, { compiled: FROM_TABLE }),
  getter(0x41, 'COINBASE', (frame) => BigInt(frame.session.env.coinbase)),
  getter(0x42, 'TIMESTAMP', (frame) => BigInt(frame.session.env.timestamp)),
  getter(0x43, 'NUMBER', (frame) => BigInt(frame.session.env.number)),
  getter(0x44, 'DIFFICULTY', (frame) => frame.session.env.difficulty),
  getter(0x45, 'GASLIMIT', (frame) => frame.session.env.gasLimit),
  getter(0x46, 'CHAINID', (frame) => BigInt(frame.session.chainId), FROM_TABLE, { since: 'rskip152' }),
  operation(0x47, 'SELFBALANCE', GAS.low, 0, 1, (frame) => frame.push(balanceOf(frame, frame.address)), {
    since: 'rskip151',
    compiled: CHECKED,
  }),
  getter(0x48, 'BASEFEE', (frame) => frame.session.env.minimumGasPrice, FROM_TABLE, { since: 'rskip412' }),
  getter(0x5a, 'GAS', (frame) => BigInt(frame.gas), GAS_LEFT),
]

/** Loops of one kind of work each, as bytecode, for `npm run bench:micro -- --only evm`. */

/** Opcodes by the names used here. */
const OPCODES = {
  STOP: 0x00,
  ADD: 0x01,
  MUL: 0x02,
  SUB: 0x03,
  DIV: 0x04,
  LT: 0x10,
  GT: 0x11,
  EQ: 0x14,
  ISZERO: 0x15,
  AND: 0x16,
  OR: 0x17,
  XOR: 0x18,
  NOT: 0x19,
  SHL: 0x1b,
  SHR: 0x1c,
  SHA3: 0x20,
  GAS: 0x5a,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  JUMPDEST: 0x5b,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  SWAP1: 0x90,
  SWAP2: 0x91,
  REVERT: 0xfd,
  CALL: 0xf1,
  STATICCALL: 0xfa,
}

/** Bytes of assembly: names, hexadecimal numbers to push, `name:` for a jump destination and `@name` to push it. */
function assemble(text) {
  const words = text.trim().split(/\s+/)
  const bytes = []
  const labels = new Map()
  const uses = []
  for (const word of words) {
    if (word.endsWith(':')) {
      labels.set(word.slice(0, -1), bytes.length)
      bytes.push(OPCODES.JUMPDEST)
    } else if (word.startsWith('@')) {
      uses.push([bytes.length + 1, word.slice(1)])
      bytes.push(0x61, 0, 0)
    } else if (word in OPCODES) bytes.push(OPCODES[word])
    else {
      const digits = word.padStart(word.length + (word.length % 2), '0')
      bytes.push(0x5f + digits.length / 2, ...Buffer.from(digits, 'hex'))
    }
  }
  for (const [at, name] of uses) {
    const target = labels.get(name)
    bytes[at] = target >> 8
    bytes[at + 1] = target & 0xff
  }
  return Uint8Array.from(bytes)
}

/** Repeats `body`, which leaves the stack as it is, `rounds` times; the counter is on top of the stack before it. */
const loop = (body, rounds, before = '') =>
  assemble(`${before} ${rounds.toString(16)} loop: ${body} 1 SWAP1 SUB DUP1 @loop JUMPI STOP`)

const A = 'f3a1c5e792b4d680f3a1c5e792b4d680f3a1c5e792b4d680f3a1c5e792b4d681'

/** An addition as Solidity compiles it since 0.8: it reverts when it overflows. */
const checked = (name) => `DUP1 7 ADD DUP2 DUP2 LT @over${name} JUMPI SWAP1 POP`

export const LOOPER = `0x${'c1'.repeat(20)}`
export const CALLEE = `0x${'c2'.repeat(20)}`

/** The work of one iteration, and how often it is done in a run. */
export const LOOPS = {
  arithmetic: { rounds: 20_000, code: loop(`DUP1 ${A} MUL DUP2 ADD 3 ADD DUP2 XOR 7 SHR POP`, 20_000) },
  'small arithmetic': { rounds: 20_000, code: loop('DUP1 3 MUL DUP2 ADD ff AND 2 ADD POP', 20_000) },
  'checked arithmetic': {
    rounds: 20_000,
    code: assemble(
      `4e20 0 loop: ${checked(1)} ${checked(2)} ${checked(3)} SWAP1 1 SWAP1 SUB SWAP1 DUP2 @loop JUMPI STOP
       over1: 0 0 REVERT over2: 0 0 REVERT over3: 0 0 REVERT`,
    ),
  },
  memory: { rounds: 20_000, code: loop('DUP1 40 MSTORE 40 MLOAD 60 MSTORE 60 MLOAD POP', 20_000) },
  keccak: { rounds: 5_000, code: loop('DUP1 0 MSTORE 40 0 SHA3 POP', 5_000) },
  SLOAD: { rounds: 5_000, code: loop('DUP1 3f AND SLOAD POP', 5_000) },
  SSTORE: { rounds: 2_000, code: loop('DUP1 DUP1 3f AND SSTORE', 2_000) },
  calls: { rounds: 2_000, code: loop(`0 0 0 0 ${CALLEE.slice(2)} GAS STATICCALL POP`, 2_000) },
}

/** The callee of the loop of calls. */
export const CALLEE_CODE = assemble('1 2 ADD POP STOP')

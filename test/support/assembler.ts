/** Text to bytecode, for tests: opcode names, numbers (pushed by the shortest push), `name:` for a jump target, `@name` to push it. */
import { CHAIN_RULES } from '../../src/evm/rules.ts'

const CODES = new Map(CHAIN_RULES.opcodes.map((row, code) => [row?.name, code]))

/** The Ethereum names of opcodes that have another name on the chain. */
const ALIASES: Readonly<Record<string, string>> = { KECCAK256: 'SHA3', SELFDESTRUCT: 'SUICIDE' }

/** Bytecode of a program. `0xab` after a PUSHn is its operand; a token like `#fe` is one raw byte. */
export function assemble(source: string): Uint8Array {
  const bytes: number[] = []
  const labels = new Map<string, number>()
  const references: { at: number; name: string }[] = []
  const tokens = source.split(/\s+/).filter((token) => token !== '')
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as string
    if (token.endsWith(':')) {
      labels.set(token.slice(0, -1), bytes.length)
      bytes.push(0x5b)
    } else if (token.startsWith('@')) {
      references.push({ at: bytes.length + 1, name: token.slice(1) })
      bytes.push(0x61, 0, 0)
    } else if (token.startsWith('#')) {
      bytes.push(...Buffer.from(token.slice(1), 'hex'))
    } else if (/^(0x[0-9a-fA-F]+|\d+)$/.test(token)) {
      bytes.push(...push(BigInt(token)))
    } else {
      const code = CODES.get(ALIASES[token] ?? token)
      if (code === undefined) throw new Error(`no opcode ${token}`)
      bytes.push(code)
      const size = code - 0x5f
      if (size >= 1 && size <= 32) bytes.push(...bigEndian(BigInt(tokens[++i] as string), size))
    }
  }
  for (const { at, name } of references) {
    const target = labels.get(name)
    if (target === undefined) throw new Error(`no label ${name}`)
    bytes[at] = target >> 8
    bytes[at + 1] = target & 0xff
  }
  return Uint8Array.from(bytes)
}

/** Code that returns `runtime` when it runs as init code. */
export function deployer(runtime: Uint8Array): Uint8Array {
  const size = runtime.length
  const head = assemble(`PUSH2 ${size} PUSH1 14 PUSH1 0 CODECOPY PUSH2 ${size} PUSH1 0 RETURN`)
  return Uint8Array.from([...head, ...runtime])
}

function push(value: bigint): number[] {
  const hex = value.toString(16)
  const size = Math.max(1, Math.ceil(hex.length / 2))
  return [0x5f + size, ...bigEndian(value, size)]
}

function bigEndian(value: bigint, size: number): number[] {
  return [...Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex')]
}
